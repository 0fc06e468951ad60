#include "raw_xml.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>

int raw_xml_parse(const char *bytes, int length) {
    xmlDocPtr document = xmlReadMemory(bytes, length, NULL, NULL, XML_PARSE_NONET);
    xmlFreeDoc(document);
    return document != NULL;
}

static void count_element(
    void *count, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
    const xmlChar **namespaces, int attribute_count, int defaulted_count, const xmlChar **attributes
) {
    ++*(long *)count;
}

long raw_xml_stream(const char *bytes, int length, int chunk) {
    long count = 0;
    xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC, .startElementNs = count_element};
    xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, &count, NULL, 0, NULL);
    for (int at = 0; at < length; at += chunk) {
        xmlParseChunk(parser, bytes + at, length - at < chunk ? length - at : chunk, 0);
    }
    xmlParseChunk(parser, NULL, 0, 1);
    if (!parser->wellFormed) count = -1;
    xmlFreeParserCtxt(parser);
    return count;
}

void *raw_xml_open(const char *bytes, int length) {
    return xmlReadMemory(bytes, length, NULL, NULL, XML_PARSE_NONET);
}

void raw_xml_close(void *document) { xmlFreeDoc(document); }

long raw_xml_xpath(void *document, const char *expression) {
    xmlXPathContextPtr context = xmlXPathNewContext(document);
    xmlXPathObjectPtr result = xmlXPathEvalExpression((const xmlChar *)expression, context);
    long count = result == NULL || result->nodesetval == NULL ? -1 : result->nodesetval->nodeNr;
    xmlXPathFreeObject(result);
    xmlXPathFreeContext(context);
    return count;
}
