# `cpack` makes a Debian package and a tarball. A build without CUDA is the one to package, since the libraries of CUDA are
# not in Debian's main archive: the preset `package` is such a build.
#
#   samples/setup.sh package && cpack --preset package     or, where nothing is missing: cmake --workflow --preset package
#
# Components: `convfilt` is the program with its data; `debian` is what only the .deb has, `outside_debian` what the tarball
# and `cmake --install` have instead; `library` and `headers` are what other programs run with and are built with.
configure_file(${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake ${CMAKE_BINARY_DIR}/uninstall.cmake COPYONLY)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT outside_debian)

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_VENDOR "convfilt")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact, fast 2D convolution of pictures from the command line")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL convfilt debian outside_debian library headers library_documents headers_documents
  ${CONVFILT_MODULES})
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/components.cmake)
set(CPACK_COMPONENT_CONVFILT_GROUP convfilt)
set(CPACK_COMPONENT_DEBIAN_GROUP convfilt)
set(CPACK_COMPONENT_OUTSIDE_DEBIAN_GROUP convfilt)
set(CPACK_COMPONENT_LIBRARY_GROUP library)
set(CPACK_COMPONENT_LIBRARY_DOCUMENTS_GROUP library)
set(CPACK_COMPONENT_HEADERS_GROUP headers)
set(CPACK_COMPONENT_HEADERS_DOCUMENTS_GROUP headers)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_CONVFILT_FILE_NAME convfilt-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})

# The newest entry of the Debian changelog carries the version of the package.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/changelog newest LIMIT_COUNT 1)
if(NOT newest MATCHES "^convfilt \\(${PROJECT_VERSION}-([0-9]+)\\)")
  message(FATAL_ERROR "packaging/changelog begins with '${newest}', which is not version ${PROJECT_VERSION}: add an entry")
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE ${CMAKE_MATCH_1})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/changelog)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/changelog signed REGEX "^ -- " LIMIT_COUNT 1)
string(REGEX REPLACE "^ -- (.*>)  .*" "\\1" CPACK_DEBIAN_PACKAGE_MAINTAINER "${signed}")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_CONVFILT_PACKAGE_NAME convfilt)
set(CPACK_DEBIAN_CONVFILT_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_CONVFILT_PACKAGE_SUGGESTS "gnuplot-nox, g++, binutils")  # `compare` draws its charts with gnuplot; `try` compiles kernels.
set(CPACK_DEBIAN_CONVFILT_DESCRIPTION
"convfilt blurs, sharpens, finds edges and applies any mask to pictures, with
the same bytes on every machine. Masks are text files, and twenty are shipped
by name. It reads and writes JPEG, PNG, TIFF, WebP, PNM and more, in 8 bits,
16 bits and float.
.
It knows many ways to convolve, the tiled kernels of the textbooks among them,
and can compare and explain them.")
if(NOT CONVFILT_HAS_CUDA)
  string(APPEND CPACK_DEBIAN_CONVFILT_DESCRIPTION " This package is built without CUDA: kernels
written for a GPU run in an emulator.")
endif()

set(library_name libconvfilt${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_name})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS convfilt)  # It brings the masks by name.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# The loader's cache knows the library as soon as it is installed.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/packaging/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/packaging/triggers)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
"exact, fast 2D convolution of pictures (library)
It convolves pictures in memory with masks, with the same bytes on every
machine. This is what programs linked with it run with.")
set(CPACK_DEBIAN_HEADERS_PACKAGE_NAME libconvfilt-dev)
set(CPACK_DEBIAN_HEADERS_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_HEADERS_PACKAGE_DEPENDS "${library_name} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_HEADERS_DESCRIPTION
"exact, fast 2D convolution of pictures (development files)
Headers and a CMake package for programs that convolve pictures in memory with
masks: find_package(convfilt).")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(packed ${CMAKE_CURRENT_BINARY_DIR}/packaging/changelog.Debian.gz)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/packaging)
execute_process(COMMAND gzip -9nc ${CMAKE_CURRENT_LIST_DIR}/changelog OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
# Each package has these in a folder of its own name.
foreach(component_and_package debian:convfilt library_documents:${library_name} headers_documents:libconvfilt-dev)
  string(REPLACE ":" ";" pair ${component_and_package})
  list(GET pair 0 component)
  list(GET pair 1 package)
  install(FILES ${packed} ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

# OpenCV is loaded when it is used, which dpkg-shlibdeps does not see.
get_target_property(opencv_file opencv_core LOCATION)
execute_process(COMMAND dpkg-query -S ${opencv_file} OUTPUT_VARIABLE opencv_package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(REGEX REPLACE ":.*" "" opencv_package "${opencv_package}")
set(CPACK_DEBIAN_CONVFILT_PACKAGE_DEPENDS "${opencv_package}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "${opencv_package}")

# A module of codecs is a package by itself, since its libraries bring many others along.
set(CONVFILT_MODULE_FORMATS_opencv "BMP, JPEG 2000, Radiance HDR and OpenEXR")
set(CONVFILT_MODULE_FORMATS_gif "GIF")
set(CONVFILT_MODULE_FORMATS_heif "HEIC and AVIF")
set(CONVFILT_MODULE_FORMATS_jxl "JPEG XL")
set(CPACK_CONVFILT_MODULES ${CONVFILT_MODULES})
set(CPACK_CONVFILT_MODULE_DOCUMENTS "")
foreach(module IN LISTS CONVFILT_MODULES)
  string(TOUPPER ${module} name)
  set(CPACK_COMPONENT_${name}_GROUP ${module})
  set(CPACK_COMPONENT_${name}_DOCUMENTS_GROUP ${module})
  list(APPEND CPACK_COMPONENTS_ALL ${module}_documents)
  list(APPEND CPACK_CONVFILT_MODULE_DOCUMENTS ${module}_documents)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME convfilt-${module})
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION graphics)
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "convfilt (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
  set(CPACK_DEBIAN_${name}_DESCRIPTION
"exact, fast 2D convolution of pictures (${CONVFILT_MODULE_FORMATS_${module}})
With this package convfilt reads pictures of these formats, too, and writes
those that can be written.")
  install(FILES ${packed} ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/convfilt-${module}
    COMPONENT ${module}_documents EXCLUDE_FROM_ALL)
endforeach()
# From 1.16 on, Debian has what libheif encodes with in packages of their own.
string(APPEND CPACK_DEBIAN_HEIF_PACKAGE_DEPENDS
  ", libheif-plugin-x265 | libheif1 (<< 1.16), libheif-plugin-aomenc | libheif1 (<< 1.16)")
list(JOIN CONVFILT_MODULES ", convfilt-" recommended)
if(recommended)
  set(CPACK_DEBIAN_CONVFILT_PACKAGE_RECOMMENDS "convfilt-${recommended}")
endif()

include(CPack)
