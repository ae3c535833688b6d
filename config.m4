dnl The PHP extension keysieve: `phpize && ./configure && make` here, or in a folder of your own with
dnl `phpize`d sources elsewhere and `/path/to/configure`. Needs a C++20 compiler, Boost headers and xxHash headers.

dnl On unless refused, because PIE passes no configure flags.
PHP_ARG_ENABLE([keysieve],
  [whether to enable keysieve],
  [AS_HELP_STRING([--disable-keysieve], [Disable keysieve])],
  [yes])

if test "$PHP_KEYSIEVE" != "no"; then
  PHP_REQUIRE_CXX()
  PHP_CXX_COMPILE_STDCXX([20], [mandatory], [PHP_KEYSIEVE_STDCXX])

  AC_LANG_PUSH([C++])
  keysieve_saved_CXXFLAGS=$CXXFLAGS
  CXXFLAGS="$CXXFLAGS $PHP_KEYSIEVE_STDCXX"

  dnl mapped_region maps the files that core has opened and checked. Headers only, nothing to link.
  AC_MSG_CHECKING([for the headers of Boost.Interprocess])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <boost/interprocess/mapped_region.hpp>]],
                                     [[boost::interprocess::mapped_region region;]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([keysieve needs the headers of Boost.Interprocess (Debian: libboost-dev; Fedora: boost-devel)])])

  dnl Header-only by XXH_INLINE_ALL; XXH3 came to stay with 0.8.
  AC_MSG_CHECKING([for the header of xxHash 0.8 or newer])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
      #define XXH_INLINE_ALL
      #include <xxhash.h>
      #if XXH_VERSION_NUMBER < 800
      #error older than 0.8
      #endif]],
      [[return XXH3_128bits_withSeed("", 0, 1).low64 == 0;]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([keysieve needs the header of xxHash 0.8 or newer (Debian: libxxhash-dev; Fedora: xxhash-devel)])])

  CXXFLAGS=$keysieve_saved_CXXFLAGS
  AC_LANG_POP([C++])

  dnl -fvisibility=hidden: calls inside the library need no jump over the table of dynamic symbols.
  dnl -fvisibility-inlines-hidden: the same for inline functions, core's hot path.
  dnl -fno-tree-slp-vectorize: gcc would join the two halves of a hash in a vector register, only to take them apart
  dnl again through memory in the next instruction.
  dnl -fno-stack-protector: distributions guard every function that has an array; in a batch of keys, whose arrays
  dnl are never written beyond a fixed number, that costs six instructions a call.
  dnl ZEND_ENABLE_STATIC_TSRMLS_CACHE: under ZTS, the globals are found by one thread-local load.
  PHP_KEYSIEVE_CXXFLAGS="$PHP_KEYSIEVE_STDCXX -fvisibility=hidden -fvisibility-inlines-hidden -fno-tree-slp-vectorize -fno-stack-protector -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1"

  dnl --version-script: get_module is the only exported symbol; ext/exports.map says why.
  dnl -z now: a symbol that PHP lacks shows when the module loads, not in the middle of a request.
  KEYSIEVE_SHARED_LIBADD="-Wl,--version-script=$abs_srcdir/ext/exports.map -Wl,-z,now"
  PHP_ADD_LIBRARY([stdc++], [1], [KEYSIEVE_SHARED_LIBADD])
  PHP_SUBST([KEYSIEVE_SHARED_LIBADD])

  dnl What every PHP process holds, and nothing else of core.
  keysieve_sources=`cd "PHP_EXT_SRCDIR([keysieve])" && echo core/worker/*/*.cpp ext/*.cpp`
  PHP_NEW_EXTENSION([keysieve], [$keysieve_sources],
    [$ext_shared],, [$PHP_KEYSIEVE_CXXFLAGS], [yes])

  dnl The object files lie in folders like those of the sources.
  for keysieve_folder in `cd "PHP_EXT_SRCDIR([keysieve])" && echo core/worker/* ext`; do
    PHP_ADD_BUILD_DIR([$ext_builddir/$keysieve_folder])
  done
fi
