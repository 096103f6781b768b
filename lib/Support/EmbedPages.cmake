# Writes OUT: one {code, text} row for each page <code>.md of the folder DIR, for Diagnostics.cpp.
# Run as: cmake -DDIR=docs/diagnostics -DOUT=DiagnosticPages.inc -P EmbedPages.cmake
file(GLOB pages "${DIR}/*.md")
list(SORT pages)
set(rows "")
foreach(page IN LISTS pages)
  get_filename_component(code "${page}" NAME_WE)
  file(READ "${page}" text)
  string(APPEND rows "{\"${code}\", R\"page(${text})page\"},\n")
endforeach()
file(WRITE "${OUT}" "${rows}")
