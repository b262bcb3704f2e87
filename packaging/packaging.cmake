# `cpack` makes a Debian package and a tarball. A build without CUDA is the one to package, since the libraries of CUDA are
# not in Debian's main archive: the preset `package` is such a build.
#
#   samples/setup.sh package && cpack --preset package     or, where nothing is missing: cmake --workflow --preset package
#
# Components: `convfilt` is the program with its data; `debian` is what only the .deb has, `outside_debian` what the tarball
# and `cmake --install` have instead. A library would be a component and a group of its own, libconvfilt-dev.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT outside_debian)

set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PACKAGE_VENDOR "convfilt")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact, fast 2D convolution of pictures from the command line")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL convfilt debian outside_debian)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/components.cmake)
set(CPACK_COMPONENT_CONVFILT_GROUP convfilt)
set(CPACK_COMPONENT_DEBIAN_GROUP convfilt)
set(CPACK_COMPONENT_OUTSIDE_DEBIAN_GROUP convfilt)
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
set(CPACK_DEBIAN_CONVFILT_PACKAGE_SUGGESTS gnuplot-nox)  # `compare` draws its charts with gnuplot.
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
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(packed ${CMAKE_CURRENT_BINARY_DIR}/packaging/changelog.Debian.gz)
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/packaging)
execute_process(COMMAND gzip -9nc ${CMAKE_CURRENT_LIST_DIR}/changelog OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${packed} ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT debian EXCLUDE_FROM_ALL)

include(CPack)
