extension XPathCompiler {
    /// The call of a function, if one comes next.
    mutating func call() throws(XML.Error) -> XPathExpression? {
        var ahead = reader
        ahead.skipSpace()
        let start = ahead.place
        guard let name = ahead.name() else { return nil }
        if ahead.isNext(":"), !ahead.isNext("::") {
            _ = ahead.skip(":")
            guard ahead.name() != nil, ahead.skip("(") else { return nil }
            _ = try namespace(of: name, at: start)
            throw reader.failure("Unknown function", at: start)
        }
        guard ahead.skip("("), !["node", "text", "comment", "processing-instruction"].contains(name) else { return nil }
        guard let function = XPathFunction(rawValue: name) else {
            throw reader.failure("Unknown function", at: start)
        }
        reader = ahead
        if function == .position || function == .last { asksForPosition = true }
        let arguments = try inBrackets { compiler throws(XML.Error) in try compiler.arguments() }
        guard function.arguments.contains(arguments.count) else {
            throw reader.failure("Wrong number of arguments", at: start)
        }
        guard !function.takesNodes || arguments.allSatisfy({ $0.type == .nodes }) else {
            throw reader.failure("Invalid type of an argument", at: start)
        }
        return .call(function, arguments)
    }

    private mutating func arguments() throws(XML.Error) -> [XPathExpression] {
        if reader.skip(")") { return [] }
        var arguments = [try anyOf()]
        while reader.skip(",") { arguments.append(try anyOf()) }
        try close(")")
        return arguments
    }

    mutating func close(_ bracket: StaticString) throws(XML.Error) {
        guard reader.skip(bracket) else { throw invalid }
    }

    mutating func inBrackets<Value>(
        _ read: (inout Self) throws(XML.Error) -> Value
    ) throws(XML.Error) -> Value {
        guard depth < Self.maximumDepth else {
            throw XML.Error(
                .xpathTooComplex, "brackets in the XPath expression lie deeper in each other than \(Self.maximumDepth)",
                byteOffset: reader.place)
        }
        depth += 1
        defer { depth -= 1 }
        return try read(&self)
    }
}
