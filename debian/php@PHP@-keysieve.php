mod debian/keysieve.ini
mod debian/build/ext/keysieve.so
