#ifndef AFAR_CLIBXML2_SHIM_H
#define AFAR_CLIBXML2_SHIM_H

// Functions of libxml2 that Swift can't import (macros, variadic functions, `xmlFree`), and the hooks that run for every element.
// C hooks are faster than Swift closures.

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Debian's libxml2 uses ICU, whose headers clash with those of Foundation's ICU. The only effect of the flag here is a longer
// structure that Afar doesn't use.
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

// The structures for documents and attributes begin with the fields of a node.
static inline xmlNodePtr afar_xml_node(void *document_or_attribute) { return (xmlNodePtr)document_or_attribute; }

// MARK: White space

static inline bool afar_xml_holds_elements_only(const xmlNode *element) {
    bool has_element = false;
    for (const xmlNode *child = element->children; child != NULL; child = child->next) {
        if (child->type == XML_ELEMENT_NODE) has_element = true;
        else if (child->type == XML_CDATA_SECTION_NODE || child->type == XML_ENTITY_REF_NODE) return false;
        else if (child->type == XML_TEXT_NODE && !xmlIsBlankNode(child)) return false;
    }
    return has_element;
}

// Removes white space from elements below a node that contain only elements, except where `xml:space` preserves it.
static inline void afar_xml_drop_blanks(xmlNodePtr top) {
    xmlNodePtr node = top;
    while (node != NULL) {
        if (node->type == XML_ELEMENT_NODE && xmlNodeGetSpacePreserve(node) != 1
            && afar_xml_holds_elements_only(node)) {
            for (xmlNodePtr child = node->children; child != NULL;) {
                xmlNodePtr next = child->next;
                if (child->type == XML_TEXT_NODE) {
                    xmlUnlinkNode(child);
                    xmlFreeNode(child);
                }
                child = next;
            }
        }
        if (node->type == XML_ELEMENT_NODE && node->children != NULL) {
            node = node->children;
            continue;
        }
        while (node != top && node->next == NULL) node = node->parent;
        node = node == top ? NULL : node->next;
    }
}

// MARK: XPath

// The prefix and namespace that are in scope in every document.
static inline const xmlChar *afar_xml_prefix(void) { return (const xmlChar *)"xml"; }
static inline const xmlChar *afar_xml_namespace(void) { return XML_XML_NAMESPACE; }

// Numbers all nodes and attributes in document order, from 1, in `_private`.
static inline void afar_xml_number_nodes(xmlDocPtr document) {
    uintptr_t count = 1;
    document->_private = (void *)count;
    xmlNodePtr node = document->children;
    while (node != NULL) {
        node->_private = (void *)++count;
        if (node->type == XML_ELEMENT_NODE) {
            for (xmlAttrPtr attribute = node->properties; attribute != NULL; attribute = attribute->next) {
                attribute->_private = (void *)++count;
            }
            if (node->children != NULL) {
                node = node->children;
                continue;
            }
        }
        while (node != (xmlNodePtr)document && node->next == NULL) node = node->parent;
        node = node == (xmlNodePtr)document ? NULL : node->next;
    }
}

// Whether an attribute is an ID: `xml:id`; in HTML, `id`, or `name` of an anchor.
static inline bool afar_xml_is_id(const xmlNode *attribute) {
    const char *name = (const char *)attribute->name;
    if (attribute->ns != NULL) return strcmp(name, "id") == 0 && xmlStrEqual(attribute->ns->href, XML_XML_NAMESPACE);
    if (attribute->doc->type != XML_HTML_DOCUMENT_NODE) return false;
    return strcmp(name, "id") == 0
        || (strcmp(name, "name") == 0 && strcmp((const char *)attribute->parent->name, "a") == 0);
}

// Creates a namespace node of an element for XPath. Free it with `xmlFree`. `index` distinguishes it from other namespace nodes of
// the element.
static inline xmlNsPtr afar_xml_namespace_node(
    xmlNodePtr element, long index, const xmlChar *prefix, const xmlChar *name
) {
    xmlNsPtr node = (xmlNsPtr)xmlMalloc(sizeof(xmlNs));
    if (node == NULL) return NULL;
    memset(node, 0, sizeof(xmlNs));
    node->type = XML_NAMESPACE_DECL;
    node->next = (xmlNsPtr)element;
    node->prefix = prefix;
    node->href = name;
    node->_private = (void *)(uintptr_t)index;
    return node;
}

// The position of a node in a numbered document. An element comes before its namespaces, its attributes and its content.
static inline uint64_t afar_xml_node_order(const xmlNode *node) {
    if (node->type != XML_NAMESPACE_DECL) return (uint64_t)(uintptr_t)node->_private << 24;
    const xmlNs *name = (const xmlNs *)node;
    return ((uint64_t)(uintptr_t)((const xmlNode *)name->next)->_private << 24) + (uintptr_t)name->_private;
}

// MARK: What a parser refuses

typedef enum {
    AFAR_XML_NOTHING_REFUSED = 0,
    AFAR_XML_DOCTYPE_REFUSED,
    AFAR_XML_ENTITY_REFUSED,
    AFAR_XML_TOO_DEEP,
    AFAR_XML_TOO_MANY_NAMESPACES,
    AFAR_XML_TOO_MANY_ATTRIBUTES,
    AFAR_XML_TOO_MANY_ELEMENTS,
    AFAR_XML_TOO_MANY_NODES,
    AFAR_XML_TOO_MANY_NAMES,
    AFAR_XML_DEFAULTS_REFUSED,
    AFAR_XML_NOTATION_INCOMPLETE,
} afar_xml_refusal;

// The state that `_private` of a parser context points to.
typedef struct {
    int maximum_depth;
    int maximum_namespaces;
    int maximum_attributes;
    long maximum_elements;
    long maximum_nodes;
    long maximum_names;
    bool refuses_doctype;
    afar_xml_refusal refusal;
    // Recorded here because a stopped parser loses its position.
    long refused_at;
    // Counts for the tree: its elements, its nodes except text, and the position at which a streamed tree began.
    long elements, nodes, began_at;
    // The number of strings in the parser's dictionary: initially, and at the last check.
    long own_names, names;
    // The elements for which a stream creates trees; NULL without a stream.
    xmlStreamCtxtPtr wanted;
    // The number of open elements in the current tree.
    int open;
    // Takes ownership of a tree.
    void (*found)(void *owner, xmlDocPtr tree);
    void *owner;
} afar_xml_rules;

static inline afar_xml_rules *afar_xml_rules_of(void *context) {
    return (afar_xml_rules *)((xmlParserCtxtPtr)context)->_private;
}

// The byte offset that a parser has reached.
static inline long afar_xml_offset(void *context) {
    const xmlParserInput *input = ((xmlParserCtxtPtr)context)->input;
    return input == NULL ? 0 : (long)input->consumed + (input->cur - input->base);
}

static inline void afar_xml_refuse(void *context, afar_xml_refusal refusal) {
    afar_xml_rules *rules = afar_xml_rules_of(context);
    if (rules->refusal == AFAR_XML_NOTHING_REFUSED) {
        rules->refusal = refusal;
        rules->refused_at = afar_xml_offset(context);
    }
    xmlStopParser((xmlParserCtxtPtr)context);
}

// Adds nodes to the count, and returns whether the limit permits them. Text nodes aren't counted, because there is at most one
// between two other nodes.
static inline bool afar_xml_admits_nodes(void *context, long count) {
    afar_xml_rules *rules = afar_xml_rules_of(context);
    rules->nodes += count;
    if (rules->nodes <= rules->maximum_nodes) return true;
    afar_xml_refuse(context, AFAR_XML_TOO_MANY_NODES);
    return false;
}

static inline bool afar_xml_admits_element(void *context, int attribute_count) {
    afar_xml_rules *rules = afar_xml_rules_of(context);
    if (++rules->elements > rules->maximum_elements) {
        afar_xml_refuse(context, AFAR_XML_TOO_MANY_ELEMENTS);
        return false;
    }
    return afar_xml_admits_nodes(context, 1 + attribute_count);
}

// The limit for the bytes of all distinct names. It is below libxml2's own limit, because libxml2's error gives no reason.
#define AFAR_XML_MAXIMUM_NAME_BYTES 9000000

// Returns whether the number of distinct names is within the limits. libxml2's dictionary has a fixed number of buckets, so
// look-ups get slower with each name.
static inline bool afar_xml_admits_names(void *context) {
    xmlDictPtr names = ((xmlParserCtxtPtr)context)->dict;
    afar_xml_rules *rules = afar_xml_rules_of(context);
    long count = xmlDictSize(names);
    if (count == rules->names) return true;
    rules->names = count;
    if (count - rules->own_names <= rules->maximum_names && xmlDictGetUsage(names) <= AFAR_XML_MAXIMUM_NAME_BYTES) {
        return true;
    }
    afar_xml_refuse(context, AFAR_XML_TOO_MANY_NAMES);
    return false;
}

// Returns whether the limits permit an element that begins.
static inline bool afar_xml_admits(void *context) {
    if (!afar_xml_admits_names(context)) return false;
    const xmlParserCtxt *parser = (const xmlParserCtxt *)context;
    const afar_xml_rules *rules = afar_xml_rules_of(context);
    // The new element's name is not on the stack yet.
    if (parser->nameNr >= rules->maximum_depth) {
        afar_xml_refuse(context, AFAR_XML_TOO_DEEP);
        return false;
    }
    // Each namespace has two entries, and every look-up of a prefix searches them all.
    if (parser->nsNr / 2 > rules->maximum_namespaces) {
        afar_xml_refuse(context, AFAR_XML_TOO_MANY_NAMESPACES);
        return false;
    }
    return true;
}

// Prevents libxml2 from keeping a table of IDs. The table also has a fixed number of buckets, and each ID would become a name.
static inline void afar_xml_skip_ids(void *context) { ((xmlParserCtxtPtr)context)->loadsubset |= XML_SKIP_IDS; }

static inline void afar_xml_start_document(void *context) {
    afar_xml_skip_ids(context);
    xmlSAX2StartDocument(context);
}

static inline void afar_xml_start_element(
    void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
    const xmlChar **namespaces, int attribute_count, int defaulted_count, const xmlChar **attributes
) {
    if (!afar_xml_admits(context) || !afar_xml_admits_element(context, attribute_count)) return;
    xmlSAX2StartElementNs(
        context, name, prefix, uri, namespace_count, namespaces, attribute_count, defaulted_count, attributes);
}

static inline void afar_xml_doctype(
    void *context, const xmlChar *name, const xmlChar *external_id, const xmlChar *system_id
) {
    if (afar_xml_rules_of(context)->refuses_doctype) afar_xml_refuse(context, AFAR_XML_DOCTYPE_REFUSED);
}

// Refuses default values. libxml2 would add them to each element, without a limit on number and length.
static inline void afar_xml_attribute_declaration(
    void *context, const xmlChar *element, const xmlChar *name, int type, int kind, const xmlChar *value,
    xmlEnumerationPtr choices
) {
    xmlFreeEnumeration(choices);
    if (value != NULL) afar_xml_refuse(context, AFAR_XML_DEFAULTS_REFUSED);
}

// Declares no entity, so libxml2 expands none and reads no file. A reference to an entity is refused.
static inline void afar_xml_entity_declaration(
    void *context, const xmlChar *name, int type, const xmlChar *public_id, const xmlChar *system_id, xmlChar *content
) {}

// libxml2's parser relies on this handler to reject a notation without an identifier (XML 1.0, production 82).
static inline void afar_xml_notation_declaration(
    void *context, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id
) {
    if (public_id == NULL && system_id == NULL) afar_xml_refuse(context, AFAR_XML_NOTATION_INCOMPLETE);
}

static inline xmlEntityPtr afar_xml_entity(void *context, const xmlChar *name) {
    xmlEntityPtr entity = xmlGetPredefinedEntity(name);
    if (entity == NULL) afar_xml_refuse(context, AFAR_XML_ENTITY_REFUSED);
    return entity;
}

static inline xmlEntityPtr afar_xml_parameter_entity(void *context, const xmlChar *name) {
    afar_xml_refuse(context, AFAR_XML_ENTITY_REFUSED);
    return NULL;
}

// Nodes inside a skipped document type have no parent, and libxml2 would leak them.
static inline void afar_xml_comment(void *context, const xmlChar *text) {
    if (((xmlParserCtxtPtr)context)->inSubset != 0) return;
    if (afar_xml_admits_nodes(context, 1)) xmlSAX2Comment(context, text);
}

static inline void afar_xml_instruction(void *context, const xmlChar *target, const xmlChar *data) {
    if (((xmlParserCtxtPtr)context)->inSubset != 0) return;
    if (afar_xml_admits_names(context) && afar_xml_admits_nodes(context, 1)) {
        xmlSAX2ProcessingInstruction(context, target, data);
    }
}

static inline void afar_xml_cdata(void *context, const xmlChar *text, int length) {
    if (afar_xml_admits_nodes(context, 1)) xmlSAX2CDataBlock(context, text, length);
}

// Installs the hooks above in a context whose rules are set.
static inline void afar_xml_install_hooks(xmlParserCtxtPtr context) {
    afar_xml_rules *rules = afar_xml_rules_of(context);
    rules->own_names = rules->names = xmlDictSize(context->dict);
    context->sax->startDocument = afar_xml_start_document;
    context->sax->startElementNs = afar_xml_start_element;
    context->sax->internalSubset = afar_xml_doctype;
    context->sax->externalSubset = NULL;
    context->sax->entityDecl = afar_xml_entity_declaration;
    context->sax->getEntity = afar_xml_entity;
    context->sax->getParameterEntity = afar_xml_parameter_entity;
    context->sax->attributeDecl = afar_xml_attribute_declaration;
    context->sax->elementDecl = NULL;
    context->sax->notationDecl = afar_xml_notation_declaration;
    context->sax->unparsedEntityDecl = NULL;
    context->sax->comment = afar_xml_comment;
    context->sax->processingInstruction = afar_xml_instruction;
    context->sax->cdataBlock = afar_xml_cdata;
}

static inline void afar_html_start_element(void *context, const xmlChar *name, const xmlChar **attributes) {
    int attribute_count = 0;
    // Names and values alternate, and NULL ends the list.
    while (attributes != NULL && attributes[2 * attribute_count] != NULL) attribute_count++;
    // In HTML, the name is on the stack already.
    if (((xmlParserCtxtPtr)context)->nameNr > afar_xml_rules_of(context)->maximum_depth) {
        afar_xml_refuse(context, AFAR_XML_TOO_DEEP);
    } else if (afar_xml_admits_names(context) && afar_xml_admits_element(context, attribute_count)) {
        xmlSAX2StartElement(context, name, attributes);
    }
}

// A document that a parser reads in pieces. If libxml2 got the whole document at once, it would keep the document until the end.
// It would also fail if an attribute ended more than 10 million bytes after the beginning.
typedef struct {
    const char *at;
    long left;
    xmlParserCtxtPtr parser;
} afar_xml_source;

// Ends the input after a fatal error. Otherwise, libxml2 would continue and compare all attributes of later elements with each
// other.
static inline int afar_xml_read(void *context, char *buffer, int length) {
    afar_xml_source *source = (afar_xml_source *)context;
    if (!source->parser->html && !source->parser->wellFormed) return 0;
    int count = source->left < length ? (int)source->left : length;
    memcpy(buffer, source->at, (size_t)count);
    source->at += count;
    source->left -= count;
    return count;
}

// Checks the number of attributes between two pieces of a page, because the parser compares all attributes of an element with
// each other before it reports the element.
static inline int afar_html_read(void *context, char *buffer, int length) {
    xmlParserCtxtPtr parser = ((afar_xml_source *)context)->parser;
    afar_xml_rules *rules = afar_xml_rules_of(parser);
    // An attribute takes two entries, and the array's size doubles.
    if (parser->maxatts / 4 > rules->maximum_attributes + 64) {
        if (rules->refusal == AFAR_XML_NOTHING_REFUSED) rules->refusal = AFAR_XML_TOO_MANY_ATTRIBUTES;
        return 0;
    }
    return afar_xml_read(context, buffer, length);
}

static inline void afar_html_install_hooks(xmlParserCtxtPtr context) {
    afar_xml_rules *rules = afar_xml_rules_of(context);
    rules->own_names = rules->names = xmlDictSize(context->dict);
    context->sax->startDocument = afar_xml_start_document;
    context->sax->startElement = afar_html_start_element;
    context->sax->comment = afar_xml_comment;
    context->sax->processingInstruction = afar_xml_instruction;
    // Otherwise, libxml2 ignores `serror` for HTML, and prints errors.
    context->sax->initialized = XML_SAX2_MAGIC;
}

// MARK: Streams

// Begins a tree with an element, and declares all namespaces in scope, because the tree doesn't contain the elements that declare
// them.
static inline void afar_xml_begin_tree(
    xmlParserCtxtPtr parser, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int attribute_count,
    int defaulted_count, const xmlChar **attributes
) {
    // Search from the innermost declaration outward. The first declaration of a prefix is in scope.
    const xmlChar **namespaces = (const xmlChar **)xmlMalloc((size_t)(parser->nsNr + 1) * sizeof(xmlChar *));
    parser->myDoc = xmlNewDoc((const xmlChar *)"1.0");
    if (namespaces == NULL || parser->myDoc == NULL) {
        xmlFree(namespaces);
        xmlStopParser(parser);
        return;
    }
    afar_xml_rules *rules = afar_xml_rules_of(parser);
    rules->elements = 1;
    rules->nodes = 1 + attribute_count;
    rules->began_at = afar_xml_offset(parser);
    if (parser->dictNames) {
        parser->myDoc->dict = parser->dict;
        xmlDictReference(parser->dict);
    }
    int count = 0;
    size_t length = 0;
    for (int at = parser->nsNr - 2; at >= 0; at -= 2) {
        bool is_hidden = false;
        for (int inner = 0; inner < count && !is_hidden; inner++) {
            is_hidden = namespaces[2 * inner] == parser->nsTab[at];
        }
        if (is_hidden) continue;
        namespaces[2 * count] = parser->nsTab[at];
        namespaces[2 * count + 1] = parser->nsTab[at + 1];
        length += strlen((const char *)parser->nsTab[at + 1]);
        count++;
    }
    // Each tree has a copy of the namespaces, so their length is limited.
    if (length > 8192) {
        xmlFree(namespaces);
        afar_xml_refuse(parser, AFAR_XML_TOO_MANY_NAMESPACES);
        return;
    }
    xmlSAX2StartElementNs(
        parser, name, prefix, uri, count, namespaces, attribute_count, defaulted_count, attributes);
    xmlFree(namespaces);
}

static inline void afar_xml_stream_start_element(
    void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
    const xmlChar **namespaces, int attribute_count, int defaulted_count, const xmlChar **attributes
) {
    if (!afar_xml_admits(context)) return;
    afar_xml_rules *rules = afar_xml_rules_of(context);
    bool is_wanted = xmlStreamPush(rules->wanted, name, uri) == 1;
    if (rules->open > 0) {
        rules->open++;
        if (!afar_xml_admits_element(context, attribute_count)) return;
        xmlSAX2StartElementNs(
            context, name, prefix, uri, namespace_count, namespaces, attribute_count, defaulted_count, attributes);
    } else if (is_wanted) {
        rules->open = 1;
        afar_xml_begin_tree(
            (xmlParserCtxtPtr)context, name, prefix, uri, attribute_count, defaulted_count, attributes);
    }
}

static inline void afar_xml_stream_end_element(
    void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri
) {
    afar_xml_rules *rules = afar_xml_rules_of(context);
    xmlStreamPop(rules->wanted);
    if (rules->open == 0) return;
    xmlSAX2EndElementNs(context, name, prefix, uri);
    if (--rules->open > 0) return;
    xmlParserCtxtPtr parser = (xmlParserCtxtPtr)context;
    xmlDocPtr tree = parser->myDoc;
    parser->myDoc = NULL;
    rules->found(rules->owner, tree);
}

static inline void afar_xml_stream_cdata(void *context, const xmlChar *text, int length) {
    if (afar_xml_rules_of(context)->open > 0) afar_xml_cdata(context, text, length);
}

static inline void afar_xml_stream_comment(void *context, const xmlChar *text) {
    if (afar_xml_rules_of(context)->open > 0 && afar_xml_admits_nodes(context, 1)) xmlSAX2Comment(context, text);
}

static inline void afar_xml_stream_instruction(void *context, const xmlChar *target, const xmlChar *data) {
    if (!afar_xml_admits_names(context) || afar_xml_rules_of(context)->open == 0) return;
    if (afar_xml_admits_nodes(context, 1)) xmlSAX2ProcessingInstruction(context, target, data);
}

static inline void afar_xml_ignore(void *context) {}

// Creates trees for the wanted elements only, and delivers each when it is complete. If `is_shared` is true, trees are used while
// the parser continues, so they must not share the parser's strings.
static inline void afar_xml_install_stream_hooks(xmlParserCtxtPtr context, bool is_shared) {
    if (is_shared) context->dictNames = 0;
    context->sax->startDocument = afar_xml_skip_ids;
    context->sax->endDocument = afar_xml_ignore;
    context->sax->startElementNs = afar_xml_stream_start_element;
    context->sax->endElementNs = afar_xml_stream_end_element;
    context->sax->cdataBlock = afar_xml_stream_cdata;
    context->sax->comment = afar_xml_stream_comment;
    context->sax->processingInstruction = afar_xml_stream_instruction;
}

// Reports all events, and creates no tree.
static inline void afar_xml_install_event_hooks(
    xmlParserCtxtPtr context, startElementNsSAX2Func start, endElementNsSAX2Func end, charactersSAXFunc text,
    commentSAXFunc comment, processingInstructionSAXFunc instruction
) {
    context->sax->startDocument = afar_xml_skip_ids;
    context->sax->endDocument = afar_xml_ignore;
    context->sax->startElementNs = start;
    context->sax->endElementNs = end;
    context->sax->characters = text;
    context->sax->ignorableWhitespace = text;
    context->sax->cdataBlock = text;
    context->sax->comment = comment;
    context->sax->processingInstruction = instruction;
}

// MARK: Markup

// Problems that are detected in a document's bytes before libxml2 gets them. libxml2 compares all attributes of an element with
// each other before it reports any. It does the same with a list of names in a document type. If a tag is too long, libxml2 stops
// within it without giving a reason.
typedef enum {
    AFAR_XML_NOTHING_FOUND = 0,
    AFAR_XML_CROWD_OF_ATTRIBUTES,
    AFAR_XML_LONG_TAG,
    AFAR_XML_LONG_DOCUMENT_TYPE,
} afar_xml_finding;

#define AFAR_XML_MAXIMUM_TAG 9000000
#define AFAR_XML_MAXIMUM_DOCUMENT_TYPE 65536
typedef enum {
    AFAR_XML_TEXT = 0,
    AFAR_XML_TAG_BEGINS,
    AFAR_XML_TAG,
    AFAR_XML_MARKUP_BEGINS,
    AFAR_XML_COMMENT_BEGINS,
    AFAR_XML_CDATA_BEGINS,
    AFAR_XML_DECLARATION,
    AFAR_XML_COMMENT,
    AFAR_XML_CDATA,
    AFAR_XML_INSTRUCTION,
} afar_xml_place;

// The state of a scan. All zero at the beginning of a document.
typedef struct {
    afar_xml_place place;
    // The open quote in a tag or a declaration, or 0.
    unsigned char quote;
    // The number of attributes in the tag.
    int attributes;
    // How many bytes of a delimiter of a comment, a CDATA section or an instruction have matched.
    int matched;
    // The offset of the tag in the document, and the number of bytes that earlier calls scanned.
    long tag, seen;
    // The offset of the declarations in a document type; 0 outside of them.
    long declarations;
} afar_xml_scanner;

static inline afar_xml_finding afar_xml_finding_at(
    const afar_xml_scanner *scanner, long offset, long maximum_document_type
) {
    if (scanner->place == AFAR_XML_TAG && offset - scanner->tag > AFAR_XML_MAXIMUM_TAG) return AFAR_XML_LONG_TAG;
    if (scanner->declarations != 0 && offset - scanner->declarations > maximum_document_type) {
        return AFAR_XML_LONG_DOCUMENT_TYPE;
    }
    return AFAR_XML_NOTHING_FOUND;
}

// Scans the next bytes, which must be UTF-8.
static inline afar_xml_finding afar_xml_scan(
    afar_xml_scanner *scanner, const unsigned char *bytes, long count, int maximum_attributes, long maximum_document_type
) {
    const unsigned char *end = bytes + count;
    for (const unsigned char *at = bytes; at < end; at++) {
        unsigned char byte = *at;
        switch (scanner->place) {
        case AFAR_XML_TEXT: {
            const unsigned char *text = at;
            at = (const unsigned char *)memchr(text, '<', (size_t)(end - text));
            const unsigned char *bracket =
                scanner->declarations == 0
                ? NULL : (const unsigned char *)memchr(text, ']', (size_t)((at == NULL ? end : at) - text));
            if (bracket != NULL) {
                afar_xml_finding finding = afar_xml_finding_at(
                    scanner, scanner->seen + (bracket - bytes), maximum_document_type);
                if (finding != AFAR_XML_NOTHING_FOUND) return finding;
                scanner->declarations = 0;
            }
            if (at == NULL) goto looked;
            scanner->tag = scanner->seen + (at - bytes);
            scanner->place = AFAR_XML_TAG_BEGINS;
            afar_xml_finding finding = afar_xml_finding_at(scanner, scanner->tag, maximum_document_type);
            if (finding != AFAR_XML_NOTHING_FOUND) return finding;
            break;
        }
        case AFAR_XML_TAG_BEGINS:
            scanner->quote = 0;
            scanner->attributes = 0;
            scanner->matched = 0;
            if (byte == '!') scanner->place = AFAR_XML_MARKUP_BEGINS;
            else if (byte == '?') scanner->place = AFAR_XML_INSTRUCTION;
            else if (byte == '>') scanner->place = AFAR_XML_TEXT;
            else if (byte == '<') scanner->tag = scanner->seen + (at - bytes);
            else scanner->place = AFAR_XML_TAG;
            break;
        case AFAR_XML_TAG:
            while (scanner->quote == 0 && byte != '"' && byte != '\'' && byte != '=' && byte != '>' && byte != '<') {
                if (++at == end) goto looked;
                byte = *at;
            }
            while (scanner->quote != 0 && byte != scanner->quote && byte != '<') {
                if (++at == end) goto looked;
                byte = *at;
            }
            // `<` inside a tag is not well-formed. However the parser treats it, counting starts again.
            if (byte == '<') {
                scanner->tag = scanner->seen + (at - bytes);
                scanner->place = AFAR_XML_TAG_BEGINS;
            } else if (scanner->quote != 0) {
                scanner->quote = 0;
            } else if (byte == '>') {
                afar_xml_finding finding = afar_xml_finding_at(
                    scanner, scanner->seen + (at - bytes), maximum_document_type);
                if (finding != AFAR_XML_NOTHING_FOUND) return finding;
                scanner->place = AFAR_XML_TEXT;
            } else if (byte != '=') {
                scanner->quote = byte;
            } else if (++scanner->attributes > maximum_attributes) {
                return AFAR_XML_CROWD_OF_ATTRIBUTES;
            }
            break;
        case AFAR_XML_MARKUP_BEGINS:
            if (byte == '-') scanner->place = AFAR_XML_COMMENT_BEGINS;
            else if (byte == '[') scanner->place = AFAR_XML_CDATA_BEGINS;
            else scanner->place = AFAR_XML_DECLARATION;
            break;
        case AFAR_XML_COMMENT_BEGINS:
            scanner->place = byte == '-' ? AFAR_XML_COMMENT : AFAR_XML_TEXT;
            break;
        case AFAR_XML_CDATA_BEGINS:
            if (byte != (unsigned char)"CDATA["[scanner->matched]) {
                scanner->place = AFAR_XML_TEXT;
            } else if (++scanner->matched == 6) {
                scanner->matched = 0;
                scanner->place = AFAR_XML_CDATA;
            }
            break;
        case AFAR_XML_DECLARATION:
            if (scanner->quote != 0) {
                if (byte == scanner->quote) scanner->quote = 0;
            } else if (byte == '"' || byte == '\'') {
                scanner->quote = byte;
            } else if (byte == '>' || byte == '[') {
                // A bracket begins the declarations of a document type. Each of them looks like a tag.
                if (byte == '[' && scanner->declarations == 0) scanner->declarations = scanner->seen + (at - bytes);
                scanner->place = AFAR_XML_TEXT;
            }
            break;
        case AFAR_XML_COMMENT:
        case AFAR_XML_CDATA:
            if (byte == (scanner->place == AFAR_XML_COMMENT ? '-' : ']')) {
                scanner->matched++;
            } else {
                if (byte == '>' && scanner->matched >= 2) scanner->place = AFAR_XML_TEXT;
                scanner->matched = 0;
            }
            break;
        case AFAR_XML_INSTRUCTION:
            if (byte == '>' && scanner->matched > 0) scanner->place = AFAR_XML_TEXT;
            scanner->matched = byte == '?';
            break;
        }
    }
looked:
    scanner->seen += count;
    return afar_xml_finding_at(scanner, scanner->seen, maximum_document_type);
}

#endif
