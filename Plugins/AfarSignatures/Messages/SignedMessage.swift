#if StructuredFields
    import AfarTransport
    import Foundation
    import HTTPTypes
    import RawStructuredFieldValues

    /// A request or a response, from which the values of components are taken (RFC 9421, section 2).
    struct SignedMessage {
        struct Response {
            let status: Int
            let fields: HTTPFields
            var trailers: HTTPFields?
        }

        /// The request, or the request to which the message is the response.
        let request: HTTPRequest
        /// Nil if the message is a request.
        var response: Response?

        /// The fields of the message itself.
        var fields: HTTPFields { response?.fields ?? request.headerFields }

        /// Returns the value of a component, or nil if the message doesn't have it.
        func value(of component: SignatureComponent) throws(MessageSignatureError) -> String? {
            var parameters = component.parameters
            let isOfRequest = parameters.contains(.request)
            parameters.removeAll { $0 == .request }
            guard !isOfRequest || response != nil else {
                throw .component(component, "only a response's signature covers parts of a request")
            }
            let value: String?
            if component.name.utf8.first == UInt8(ascii: "@") {
                value = try derived(component, parameters, isOfRequest: isOfRequest)
            } else {
                value = try field(component, parameters, isOfRequest: isOfRequest)
            }
            // The base of a signature is ASCII, with one line per component (section 2.5).
            guard value?.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) ?? true else {
                throw .component(component, "its value has characters outside of printable ASCII: cover its bytes (bs)")
            }
            return value
        }

        // MARK: Derived components

        private func derived(
            _ component: SignatureComponent, _ parameters: [SignatureComponent.Parameter], isOfRequest: Bool
        ) throws(MessageSignatureError) -> String? {
            if component.name == "@query-param" {
                guard response == nil || isOfRequest, parameters.count == 1, case .name(let name)? = parameters.first
                else { throw .component(component, "it must have the parameter name, and belong to a request") }
                return try queryParameter(name, component)
            }
            guard parameters.isEmpty else { throw .component(component, "it can't have this parameter") }
            if component.name == "@status" {
                guard let response, !isOfRequest else { throw .component(component, "a request has no status") }
                return String(response.status)
            }
            guard response == nil || isOfRequest else {
                throw .component(component, "a response doesn't have it: cover the component of its request (req)")
            }
            let target = request.path ?? "/"
            let scheme = (request.scheme ?? "").lowercased()
            switch component.name {
            case "@method": return request.method.rawValue
            case "@target-uri": return "\(scheme)://\(authority)\(target == "*" ? "" : target)"
            case "@authority": return normalizedAuthority(scheme)
            case "@scheme": return scheme
            case "@request-target": return target
            case "@path":
                let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
                return path.isEmpty ? "/" : String(Substring(path))
            case "@query":
                let query = target.utf8.drop { $0 != UInt8(ascii: "?") }
                return query.isEmpty ? "?" : String(Substring(query))
            default: throw .component(component, "it is unknown")
            }
        }

        /// The authority as it is sent. The `Host` field is part of the target URI (RFC 9110, section 7.1).
        private var authority: String {
            let hosts = request.headerFields.filter { $0.name.canonicalName == "host" }.map(\.value)
            return hosts.first ?? request.sentAuthority
        }

        private func normalizedAuthority(_ scheme: String) -> String {
            let authority = authority.lowercased()
            for suffix in [scheme == "https" ? ":443" : ":80", ":"] where authority.hasSuffix(suffix) {
                return String(authority.dropLast(suffix.count))
            }
            return authority
        }

        private func queryParameter(
            _ name: String, _ component: SignatureComponent
        ) throws(MessageSignatureError) -> String? {
            let query = (request.path ?? "").utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
            let values = FormEncoding.parameters(in: query).filter { FormEncoding.encoded($0.name) == name }
            guard values.count <= 1 else { throw .component(component, "the query contains it \(values.count) times") }
            return values.first.map { FormEncoding.encoded($0.value) }
        }

        // MARK: Fields

        private func field(
            _ component: SignatureComponent, _ parameters: [SignatureComponent.Parameter], isOfRequest: Bool
        ) throws(MessageSignatureError) -> String? {
            var parameters = parameters
            var fields = isOfRequest ? request.headerFields : fields
            if parameters.contains(.trailer) {
                parameters.removeAll { $0 == .trailer }
                guard !isOfRequest, let trailers = response?.trailers else {
                    throw .component(component, "trailer fields aren't available when a message is signed or verified")
                }
                fields = trailers
            }
            let values = fields.filter { $0.name.canonicalName == component.name }
            guard !values.isEmpty else { return nil }
            if parameters == [.bytes] {
                let wrapped = values.map { field in
                    field.withUnsafeBytesOfValue { ":\(Data(Self.trimmed($0)).base64EncodedString()):" }
                }
                return wrapped.joined(separator: ", ")
            }
            guard component.name != "set-cookie" || values.count == 1 else {
                throw .component(component, "several values can only be covered as bytes (bs)")
            }
            let value = values.map { field in
                field.withUnsafeBytesOfValue { String(decoding: Self.trimmed($0), as: UTF8.self) }
            }.joined(separator: ", ")
            if parameters.isEmpty { return value }
            do {
                let isDictionary = Self.dictionaries.contains(component.name)
                if parameters == [.structured] {
                    return try FieldText.normalized(value, isDictionary: isDictionary)
                }
                parameters.removeAll { $0 == .structured }
                if parameters.count == 1, case .key(let key)? = parameters.first {
                    return try FieldText.dictionary(value)[key].map { try FieldText.text(of: $0) }
                }
            } catch {
                throw .component(component, "\(error)")
            }
            throw .component(component, "its parameters contradict each other")
        }

        /// Structured fields that are dictionaries. The type of any other field is apparent from its text.
        private static let dictionaries: Set = [
            "accept-signature", "content-digest", "priority", "repr-digest", "signature", "signature-input",
            "want-content-digest", "want-repr-digest",
        ]

        /// Removes white space at both ends, and replaces obsolete line folding with a space (section 2.1).
        private static func trimmed(_ value: UnsafeBufferPointer<UInt8>) -> [UInt8] {
            let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
            guard let first = value.firstIndex(where: { !isSpace($0) }),
                let last = value.lastIndex(where: { !isSpace($0) })
            else { return [] }
            let text = value[first...last]
            guard text.contains(where: { $0 == 0x0D || $0 == 0x0A }) else { return Array(text) }
            let lines = text.split { $0 == 0x0D || $0 == 0x0A }
            let trimmed = lines.map { line -> [UInt8] in
                let line = line.drop(while: isSpace)
                return line.lastIndex { !isSpace($0) }.map { Array(line[...$0]) } ?? []
            }
            return Array(trimmed.joined(separator: [0x20]))
        }
    }

    // MARK: - Parameters

    /// The parameters of a signature (RFC 9421, section 2.3).
    public struct SignatureParameters: Sendable, Hashable {
        /// The covered components, in order.
        public var components: [SignatureComponent]
        /// When the signature was created, in seconds since 1970.
        public var created: Int64?
        /// When the signature expires, in seconds since 1970.
        public var expires: Int64?
        /// A value that is unique to the signature.
        public var nonce: String?
        /// The name of the algorithm.
        public var algorithm: String?
        /// The identifier of the key.
        public var keyID: String?
        /// The purpose of the signature, which an application defines.
        public var tag: String?
    }

    extension SignatureParameters {
        /// Reads the parameters of a member of `Signature-Input`, and returns them with the member's strict
        /// serialization.
        static func parse(_ member: ItemOrInnerList) throws(MessageSignatureError) -> (Self, text: String) {
            guard case .innerList(let list) = member else { throw .malformed("it isn't a list of components") }
            var parameters = SignatureParameters(components: [])
            for item in list.bareInnerList {
                guard let component = SignatureComponent(item) else {
                    throw .malformed("a component has an invalid name or parameter")
                }
                parameters.components.append(component)
            }
            guard parameters.components.count <= 64 else { throw .malformed("it covers more than 64 components") }
            for (key, value) in list.rfc9651Parameters {
                switch (key, value) {
                case ("created", .integer(let seconds)): parameters.created = seconds
                case ("expires", .integer(let seconds)): parameters.expires = seconds
                case ("nonce", .string(let text)): parameters.nonce = text
                case ("alg", .string(let text)): parameters.algorithm = text
                case ("keyid", .string(let text)): parameters.keyID = text
                case ("tag", .string(let text)): parameters.tag = text
                case ("created", _), ("expires", _), ("nonce", _), ("alg", _), ("keyid", _), ("tag", _):
                    throw .malformed("the parameter \(key) has a wrong type")
                default: break
                }
            }
            do { return (parameters, try FieldText.text(of: member)) } catch { throw .malformed("\(error)") }
        }

        /// The value of `@signature-params`, which is also the member of `Signature-Input`.
        func text() throws(MessageSignatureError) -> String {
            var list = InnerList(bareInnerList: BareInnerList(), parameters: OrderedMap<String, RFC9651BareItem>())
            for component in components { list.bareInnerList.append(component.item) }
            let integers = [("created", created), ("expires", expires)]
            for (key, value) in integers { if let value { list.rfc9651Parameters[key] = .integer(value) } }
            let strings = [("nonce", nonce), ("alg", algorithm), ("keyid", keyID), ("tag", tag)]
            for (key, value) in strings { if let value { list.rfc9651Parameters[key] = .string(value) } }
            do { return try FieldText.text(of: .innerList(list)) } catch {
                throw MessageSignatureError("a component or parameter has characters that can't be written: \(error)")
            }
        }

        /// Returns the base of the signature (section 2.5).
        ///
        /// - Parameter text: The value of `@signature-params`.
        func base(of message: SignedMessage, text: String) throws(MessageSignatureError) -> Data {
            guard Set(components).count == components.count else {
                throw MessageSignatureError("a component is covered more than once")
            }
            var base = ""
            for component in components {
                guard let value = try message.value(of: component) else {
                    throw .component(component, "the message doesn't have it")
                }
                base += "\(component): \(value)\n"
            }
            return Data("\(base)\"@signature-params\": \(text)".utf8)
        }
    }
#endif
