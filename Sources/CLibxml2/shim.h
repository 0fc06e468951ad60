#ifndef AFAR_CLIBXML2_SHIM_H
#define AFAR_CLIBXML2_SHIM_H

// What Swift cannot import of libxml2 (macros, variadic functions, `xmlFree`), and the hooks that run for every element,
// which are faster here than as Swift closures.

#include <stdbool.h>
#include <string.h>

// Debian's libxml2 converts with ICU, whose headers would clash with those of the ICU inside Foundation. They only lengthen
// a structure that is never made or looked into here.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/HTMLparser.h>
#include <libxml/HTMLtree.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/pattern.h>
#include <libxml/tree.h>
#include <libxml/xmlsave.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

static inline void afar_xml_free(void *memory) { xmlFree(memory); }

static inline bool afar_xml_is_element(const xmlNode *node) { return node->type == XML_ELEMENT_NODE; }

// MARK: What a parser refuses

typedef enum {
    AFAR_XML_NOTHING_REFUSED = 0,
    AFAR_XML_DOCTYPE_REFUSED,
    AFAR_XML_ENTITY_REFUSED,
    AFAR_XML_TOO_DEEP,
    AFAR_XML_TOO_MANY_NAMESPACES,
} afar_xml_refusal;

// What a parser context points to with `_private`.
typedef struct {
    int maximum_depth;
    int maximum_namespaces;
    bool refuses_doctype;
    afar_xml_refusal refusal;
    // Swift's own.
    void *owner;
} afar_xml_rules;

static inline afar_xml_rules *afar_xml_rules_of(void *context) {
    return (afar_xml_rules *)((xmlParserCtxtPtr)context)->_private;
}

static inline void afar_xml_refuse(void *context, afar_xml_refusal refusal) {
    afar_xml_rules *rules = afar_xml_rules_of(context);
    if (rules->refusal == AFAR_XML_NOTHING_REFUSED) rules->refusal = refusal;
    xmlStopParser((xmlParserCtxtPtr)context);
}

// Whether an element that begins may be.
static inline bool afar_xml_admits(void *context) {
    const xmlParserCtxt *parser = (const xmlParserCtxt *)context;
    const afar_xml_rules *rules = afar_xml_rules_of(context);
    // The name of the element that begins is not on the stack yet.
    if (parser->nameNr >= rules->maximum_depth) {
        afar_xml_refuse(context, AFAR_XML_TOO_DEEP);
        return false;
    }
    // Each namespace is two entries, and every look-up of a prefix goes through them.
    if (parser->nsNr / 2 > rules->maximum_namespaces) {
        afar_xml_refuse(context, AFAR_XML_TOO_MANY_NAMESPACES);
        return false;
    }
    return true;
}

static inline void afar_xml_start_element(
    void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
    const xmlChar **namespaces, int attribute_count, int defaulted_count, const xmlChar **attributes
) {
    if (!afar_xml_admits(context)) return;
    xmlSAX2StartElementNs(
        context, name, prefix, uri, namespace_count, namespaces, attribute_count, defaulted_count, attributes);
}

static inline void afar_xml_doctype(
    void *context, const xmlChar *name, const xmlChar *external_id, const xmlChar *system_id
) {
    if (afar_xml_rules_of(context)->refuses_doctype) {
        afar_xml_refuse(context, AFAR_XML_DOCTYPE_REFUSED);
    } else {
        xmlSAX2InternalSubset(context, name, external_id, system_id);
    }
}

// Entities are never declared, so that nothing expands and no file is read; what refers to one is refused.
static inline void afar_xml_entity_declaration(
    void *context, const xmlChar *name, int type, const xmlChar *public_id, const xmlChar *system_id, xmlChar *content
) {}

static inline xmlEntityPtr afar_xml_entity(void *context, const xmlChar *name) {
    xmlEntityPtr entity = xmlGetPredefinedEntity(name);
    if (entity == NULL) afar_xml_refuse(context, AFAR_XML_ENTITY_REFUSED);
    return entity;
}

static inline xmlEntityPtr afar_xml_parameter_entity(void *context, const xmlChar *name) {
    afar_xml_refuse(context, AFAR_XML_ENTITY_REFUSED);
    return NULL;
}

// Puts the hooks above into a context that has its rules.
static inline void afar_xml_install_hooks(xmlParserCtxtPtr context) {
    context->sax->startElementNs = afar_xml_start_element;
    context->sax->internalSubset = afar_xml_doctype;
    context->sax->externalSubset = NULL;
    context->sax->entityDecl = afar_xml_entity_declaration;
    context->sax->getEntity = afar_xml_entity;
    context->sax->getParameterEntity = afar_xml_parameter_entity;
}

// MARK: Attributes

// What follows the next `closing`, or NULL.
static inline const unsigned char *afar_xml_after(
    const unsigned char *at, const unsigned char *end, const char *closing
) {
    size_t length = strlen(closing);
    while ((at = (const unsigned char *)memchr(at, closing[0], (size_t)(end - at))) != NULL) {
        if ((size_t)(end - at) < length) return NULL;
        if (memcmp(at, closing, length) == 0) return at + length;
        at++;
    }
    return NULL;
}

// The offset of the first start tag with more attributes than that, or -1. libxml2 compares every attribute of an element
// with every other before it tells of any, so they are counted first. `bytes` must be of an encoding in which ASCII's bytes
// mean ASCII's characters.
static inline long afar_xml_crowded_tag(const unsigned char *bytes, long count, int maximum) {
    const unsigned char *at = bytes, *end = bytes + count;
    while ((at = (const unsigned char *)memchr(at, '<', (size_t)(end - at))) != NULL) {
        const unsigned char *tag = at++;
        if (at == end) return -1;
        // A comment, CDATA or an instruction may hold what looks like tags.
        const char *opening = end - at >= 3 && memcmp(at, "!--", 3) == 0 ? "!--"
            : end - at >= 8 && memcmp(at, "![CDATA[", 8) == 0 ? "![CDATA["
            : *at == '?' ? "?" : NULL;
        if (opening != NULL) {
            const char *closing = opening[0] == '?' ? "?>" : opening[1] == '-' ? "-->" : "]]>";
            at = afar_xml_after(at + strlen(opening), end, closing);
            if (at == NULL) return -1;
            continue;
        }
        int attributes = 0;
        unsigned char quote = 0;
        for (; at < end; at++) {
            unsigned char byte = *at;
            if (quote != 0) {
                if (byte == quote) quote = 0;
                else if (byte == '<') break;  // not well-formed: the parser will say so
            } else if (byte == '>' || byte == '<' || byte == '[') {
                break;  // a bracket begins the declarations of a document type
            } else if (byte == '"' || byte == '\'') {
                quote = byte;
            } else if (byte == '=' && ++attributes > maximum) {
                return tag - bytes;
            }
        }
        if (at == end) return -1;
    }
    return -1;
}

#endif
