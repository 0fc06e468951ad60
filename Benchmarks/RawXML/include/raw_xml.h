#ifndef RAW_XML_H
#define RAW_XML_H

// What a C program does with libxml2 for the same work.

// Parses and frees a document. Returns 0 when that fails.
int raw_xml_parse(const char *bytes, int length);

// The same, without the tree of a document: elements are counted as they come. Chunks are of `chunk` bytes.
long raw_xml_stream(const char *bytes, int length, int chunk);

// A parsed document, for the next function; NULL when that fails.
void *raw_xml_open(const char *bytes, int length);
void raw_xml_close(void *document);

// The number of nodes that an expression selects, or -1.
long raw_xml_xpath(void *document, const char *expression);

#endif
