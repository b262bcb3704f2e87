# cpack reads this once for each generator.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL convfilt debian library library_documents headers headers_documents ${CPACK_CONVFILT_MODULES} ${CPACK_CONVFILT_MODULE_DOCUMENTS})
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
else()
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENTS_ALL convfilt outside_debian library headers ${CPACK_CONVFILT_MODULES})
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
