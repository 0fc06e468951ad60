#ifndef AFAR_CLIBXML2_SHIM_H
#define AFAR_CLIBXML2_SHIM_H

// What Swift cannot import of libxml2 (macros, variadic functions, `xmlFree`), and the hooks that run for every element,
// which are faster here than as Swift closures.

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
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

// libxml2's documents and attributes begin as its nodes do.
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

// Removes the white space between elements below a node, where nothing but elements is and `xml:space` lets it be removed.
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

static inline void afar_xml_keep_quiet(void *context, const char *message, ...) {}

// Compiles and evaluates an expression; NULL when that fails. Some of what can go wrong libxml2 prints besides, unless this
// thread's printer is another one.
static inline xmlXPathObjectPtr afar_xml_xpath(xmlXPathContextPtr context, const char *expression) {
    xmlGenericErrorFunc printer = xmlGenericError;
    void *printer_context = xmlGenericErrorContext;
    xmlSetGenericErrorFunc(NULL, afar_xml_keep_quiet);
    xmlXPathObjectPtr result = NULL;
    xmlXPathCompExprPtr compiled = xmlXPathCtxtCompile(context, (const xmlChar *)expression);
    if (compiled != NULL) {
        result = xmlXPathCompiledEval(compiled, context);
        xmlXPathFreeCompExpr(compiled);
    }
    xmlSetGenericErrorFunc(printer_context, printer);
    return result;
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
    AFAR_XML_DEFAULTS_REFUSED,
} afar_xml_refusal;

// What a parser context points to with `_private`.
typedef struct {
    int maximum_depth;
    int maximum_namespaces;
    int maximum_attributes;
    long maximum_elements;
    bool refuses_doctype;
    afar_xml_refusal refusal;
    // Where it was met, since a parser that is stopped forgets the place.
    long refused_at;
    // The elements of the tree, and where a stream's began.
    long elements, began_at;
    // Which elements a stream makes trees of; NULL for none.
    xmlStreamCtxtPtr wanted;
    // How many elements of the tree that is being made are open.
    int open;
    // Takes such a tree over.
    void (*found)(void *owner, xmlDocPtr tree);
    // Swift's own.
    void *owner;
} afar_xml_rules;

static inline afar_xml_rules *afar_xml_rules_of(void *context) {
    return (afar_xml_rules *)((xmlParserCtxtPtr)context)->_private;
}

// The byte that a parser has reached.
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

// Whether the tree may have one more element.
static inline bool afar_xml_admits_element(void *context) {
    afar_xml_rules *rules = afar_xml_rules_of(context);
    if (++rules->elements <= rules->maximum_elements) return true;
    afar_xml_refuse(context, AFAR_XML_TOO_MANY_ELEMENTS);
    return false;
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
    if (!afar_xml_admits(context) || !afar_xml_admits_element(context)) return;
    xmlSAX2StartElementNs(
        context, name, prefix, uri, namespace_count, namespaces, attribute_count, defaulted_count, attributes);
}

static inline void afar_xml_doctype(
    void *context, const xmlChar *name, const xmlChar *external_id, const xmlChar *system_id
) {
    if (afar_xml_rules_of(context)->refuses_doctype) afar_xml_refuse(context, AFAR_XML_DOCTYPE_REFUSED);
}

// libxml2 would give each element the defaults, however many and long, and keep them by itself.
static inline void afar_xml_attribute_declaration(
    void *context, const xmlChar *element, const xmlChar *name, int type, int kind, const xmlChar *value,
    xmlEnumerationPtr choices
) {
    xmlFreeEnumeration(choices);
    if (value != NULL) afar_xml_refuse(context, AFAR_XML_DEFAULTS_REFUSED);
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

// What stands inside a document type that is passed over belongs to nothing, and libxml2 would lose it.
static inline void afar_xml_comment(void *context, const xmlChar *text) {
    if (((xmlParserCtxtPtr)context)->inSubset == 0) xmlSAX2Comment(context, text);
}

static inline void afar_xml_instruction(void *context, const xmlChar *target, const xmlChar *data) {
    if (((xmlParserCtxtPtr)context)->inSubset == 0) xmlSAX2ProcessingInstruction(context, target, data);
}

// Puts the hooks above into a context that has its rules.
static inline void afar_xml_install_hooks(xmlParserCtxtPtr context) {
    context->sax->startElementNs = afar_xml_start_element;
    context->sax->internalSubset = afar_xml_doctype;
    context->sax->externalSubset = NULL;
    context->sax->entityDecl = afar_xml_entity_declaration;
    context->sax->getEntity = afar_xml_entity;
    context->sax->getParameterEntity = afar_xml_parameter_entity;
    context->sax->attributeDecl = afar_xml_attribute_declaration;
    context->sax->elementDecl = NULL;
    context->sax->notationDecl = NULL;
    context->sax->unparsedEntityDecl = NULL;
    context->sax->comment = afar_xml_comment;
    context->sax->processingInstruction = afar_xml_instruction;
}

static inline void afar_html_start_element(void *context, const xmlChar *name, const xmlChar **attributes) {
    // Here the name is on the stack already.
    if (((xmlParserCtxtPtr)context)->nameNr > afar_xml_rules_of(context)->maximum_depth) {
        afar_xml_refuse(context, AFAR_XML_TOO_DEEP);
    } else if (afar_xml_admits_element(context)) {
        xmlSAX2StartElement(context, name, attributes);
    }
}

// A page that a parser reads in pieces. Between them it is looked how many attributes the parser has made room for: it
// compares each with each, and tells of an element only after that.
typedef struct {
    const char *at;
    long left;
    xmlParserCtxtPtr parser;
} afar_html_source;

static inline int afar_html_read(void *context, char *buffer, int length) {
    afar_html_source *source = (afar_html_source *)context;
    // An attribute takes two places, and the room grows by doubling.
    if (source->parser->maxatts / 4 > afar_xml_rules_of(source->parser)->maximum_attributes + 64) {
        afar_xml_rules *rules = afar_xml_rules_of(source->parser);
        if (rules->refusal == AFAR_XML_NOTHING_REFUSED) rules->refusal = AFAR_XML_TOO_MANY_ATTRIBUTES;
        return 0;
    }
    int count = source->left < length ? (int)source->left : length;
    memcpy(buffer, source->at, (size_t)count);
    source->at += count;
    source->left -= count;
    return count;
}

static inline void afar_html_install_hooks(xmlParserCtxtPtr context) {
    context->sax->startElement = afar_html_start_element;
    // Without this, `serror` is passed over for HTML, and what is wrong is printed.
    context->sax->initialized = XML_SAX2_MAGIC;
}

// MARK: Streams

// Begins a tree with an element. It gets all namespaces that are in force, since those around it are no part of the tree.
static inline void afar_xml_begin_tree(
    xmlParserCtxtPtr parser, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int attribute_count,
    int defaulted_count, const xmlChar **attributes
) {
    // From the innermost declaration outwards: the first one of a prefix is in force.
    const xmlChar **namespaces = (const xmlChar **)xmlMalloc((size_t)(parser->nsNr + 1) * sizeof(xmlChar *));
    parser->myDoc = xmlNewDoc((const xmlChar *)"1.0");
    if (namespaces == NULL || parser->myDoc == NULL) {
        xmlFree(namespaces);
        xmlStopParser(parser);
        return;
    }
    afar_xml_rules *rules = afar_xml_rules_of(parser);
    rules->elements = 1;
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
    // Every tree has its own copy of them.
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
        if (!afar_xml_admits_element(context)) return;
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

static inline void afar_xml_stream_comment(void *context, const xmlChar *text) {
    if (afar_xml_rules_of(context)->open > 0) xmlSAX2Comment(context, text);
}

static inline void afar_xml_stream_instruction(void *context, const xmlChar *target, const xmlChar *data) {
    if (afar_xml_rules_of(context)->open > 0) xmlSAX2ProcessingInstruction(context, target, data);
}

static inline void afar_xml_ignore(void *context) {}

// Makes trees of wanted elements only, each handed over when it is whole. `is_shared` says that trees are used while the
// parser goes on, so that they may not share its strings.
static inline void afar_xml_install_stream_hooks(xmlParserCtxtPtr context, bool is_shared) {
    if (is_shared) context->dictNames = 0;
    context->sax->startDocument = afar_xml_ignore;
    context->sax->endDocument = afar_xml_ignore;
    context->sax->startElementNs = afar_xml_stream_start_element;
    context->sax->endElementNs = afar_xml_stream_end_element;
    context->sax->comment = afar_xml_stream_comment;
    context->sax->processingInstruction = afar_xml_stream_instruction;
}

// Tells of everything and makes no tree.
static inline void afar_xml_install_event_hooks(
    xmlParserCtxtPtr context, startElementNsSAX2Func start, endElementNsSAX2Func end, charactersSAXFunc text,
    commentSAXFunc comment, processingInstructionSAXFunc instruction
) {
    context->sax->startDocument = afar_xml_ignore;
    context->sax->endDocument = afar_xml_ignore;
    context->sax->startElementNs = start;
    context->sax->endElementNs = end;
    context->sax->characters = text;
    context->sax->ignorableWhitespace = text;
    context->sax->cdataBlock = text;
    context->sax->comment = comment;
    context->sax->processingInstruction = instruction;
}

// MARK: Attributes

// libxml2 compares every attribute of an element with every other before it tells of any, so they are counted first.
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

// How far a document was looked at. All zero at its beginning.
typedef struct {
    afar_xml_place place;
    // The quote that is open in a tag or a declaration, or 0.
    unsigned char quote;
    // The attributes of the tag.
    int attributes;
    // How many bytes of what begins or ends a comment, CDATA or an instruction were met.
    int matched;
    // Where the tag begins, counted from the document's first byte, and how many bytes were looked at before this call.
    long tag, seen;
} afar_xml_counter;

// Looks at the next bytes, which must be UTF-8. Returns false when a tag has more attributes than allowed.
static inline bool afar_xml_count_attributes(
    afar_xml_counter *counter, const unsigned char *bytes, long count, int maximum
) {
    const unsigned char *end = bytes + count;
    for (const unsigned char *at = bytes; at < end; at++) {
        unsigned char byte = *at;
        switch (counter->place) {
        case AFAR_XML_TEXT:
            at = (const unsigned char *)memchr(at, '<', (size_t)(end - at));
            if (at == NULL) goto looked;
            counter->tag = counter->seen + (at - bytes);
            counter->place = AFAR_XML_TAG_BEGINS;
            break;
        case AFAR_XML_TAG_BEGINS:
            counter->quote = 0;
            counter->attributes = 0;
            counter->matched = 0;
            if (byte == '!') counter->place = AFAR_XML_MARKUP_BEGINS;
            else if (byte == '?') counter->place = AFAR_XML_INSTRUCTION;
            else if (byte == '>') counter->place = AFAR_XML_TEXT;
            else if (byte == '<') counter->tag = counter->seen + (at - bytes);
            else counter->place = AFAR_XML_TAG;
            break;
        case AFAR_XML_TAG:
            while (counter->quote == 0 && byte != '"' && byte != '\'' && byte != '=' && byte != '>' && byte != '<') {
                if (++at == end) goto looked;
                byte = *at;
            }
            while (counter->quote != 0 && byte != counter->quote && byte != '<') {
                if (++at == end) goto looked;
                byte = *at;
            }
            // A tag's beginning inside a tag is not well-formed: whatever the parser makes of it, it is counted anew.
            if (byte == '<') {
                counter->tag = counter->seen + (at - bytes);
                counter->place = AFAR_XML_TAG_BEGINS;
            } else if (counter->quote != 0) {
                counter->quote = 0;
            } else if (byte == '>') {
                counter->place = AFAR_XML_TEXT;
            } else if (byte != '=') {
                counter->quote = byte;
            } else if (++counter->attributes > maximum) {
                return false;
            }
            break;
        case AFAR_XML_MARKUP_BEGINS:
            if (byte == '-') counter->place = AFAR_XML_COMMENT_BEGINS;
            else if (byte == '[') counter->place = AFAR_XML_CDATA_BEGINS;
            else counter->place = AFAR_XML_DECLARATION;
            break;
        case AFAR_XML_COMMENT_BEGINS:
            counter->place = byte == '-' ? AFAR_XML_COMMENT : AFAR_XML_TEXT;
            break;
        case AFAR_XML_CDATA_BEGINS:
            if (byte != (unsigned char)"CDATA["[counter->matched]) {
                counter->place = AFAR_XML_TEXT;
            } else if (++counter->matched == 6) {
                counter->matched = 0;
                counter->place = AFAR_XML_CDATA;
            }
            break;
        case AFAR_XML_DECLARATION:
            if (counter->quote != 0) {
                if (byte == counter->quote) counter->quote = 0;
            } else if (byte == '"' || byte == '\'') {
                counter->quote = byte;
            } else if (byte == '>' || byte == '[') {
                // A bracket begins the declarations of a document type, each of which looks like a tag.
                counter->place = AFAR_XML_TEXT;
            }
            break;
        case AFAR_XML_COMMENT:
        case AFAR_XML_CDATA:
            if (byte == (counter->place == AFAR_XML_COMMENT ? '-' : ']')) {
                counter->matched++;
            } else {
                if (byte == '>' && counter->matched >= 2) counter->place = AFAR_XML_TEXT;
                counter->matched = 0;
            }
            break;
        case AFAR_XML_INSTRUCTION:
            if (byte == '>' && counter->matched > 0) counter->place = AFAR_XML_TEXT;
            counter->matched = byte == '?';
            break;
        }
    }
looked:
    counter->seen += count;
    return true;
}

// MARK: The stack

#ifdef __linux__
// Declared only for those who define _GNU_SOURCE.
extern int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
#endif

// Where on the stack the caller is. The address of a variable does not tell: the address sanitizer keeps those elsewhere.
static inline uintptr_t afar_stack_position(void) { return (uintptr_t)__builtin_frame_address(0); }

// Where the stack of the calling thread ends: its lowest address; 0 where the system does not say.
static inline uintptr_t afar_stack_end(void) {
#if defined(__APPLE__)
    pthread_t thread = pthread_self();
    return (uintptr_t)pthread_get_stackaddr_np(thread) - pthread_get_stacksize_np(thread);
#elif defined(__linux__)
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    if (pthread_attr_getstack(&attributes, &start, &size) != 0) start = NULL;
    pthread_attr_destroy(&attributes);
    return (uintptr_t)start;
#else
    return 0;
#endif
}

#endif
