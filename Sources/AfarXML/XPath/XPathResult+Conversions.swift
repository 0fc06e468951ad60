import CLibxml2

extension XML.XPathResult {
    static func text(of number: Double) -> String {
        Library.prepare()
        guard let text = xmlXPathCastNumberToString(number) else { return "" }
        defer { afar_xml_free(text) }
        return String(xml: text)
    }

    static func number(in text: String) -> Double {
        Library.prepare()
        return xmlXPathCastStringToNumber(text)
    }
}
