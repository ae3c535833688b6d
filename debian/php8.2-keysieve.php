mod debian/keysieve.ini
mod debian/build/extension/modules/keysieve.so
