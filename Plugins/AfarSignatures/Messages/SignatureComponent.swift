#if StructuredFields
    import HTTPTypes
    import RawStructuredFieldValues

    /// A component of a message that a signature covers (RFC 9421, section 2): a field, or a derived component such as the method.
    ///
    /// ```swift
    /// let components: [SignatureComponent] = [.method, .targetURI, "content-type", .contentDigest]
    /// ```
    ///
    /// A string literal is a field's name.
    public struct SignatureComponent: Sendable {
        enum Parameter: Sendable, Hashable {
            case structured, bytes, request, trailer
            case key(String)
            case name(String)

            var keyAndValue: (key: String, value: RFC9651BareItem) {
                switch self {
                case .structured: ("sf", .bool(true))
                case .bytes: ("bs", .bool(true))
                case .request: ("req", .bool(true))
                case .trailer: ("tr", .bool(true))
                case .key(let key): ("key", .string(key))
                case .name(let name): ("name", .string(name))
                }
            }

            init?(_ key: String, _ value: RFC9651BareItem) {
                switch (key, value) {
                case ("sf", .bool(true)): self = .structured
                case ("bs", .bool(true)): self = .bytes
                case ("req", .bool(true)): self = .request
                case ("tr", .bool(true)): self = .trailer
                case ("key", .string(let key)): self = .key(key)
                case ("name", .string(let name)): self = .name(name)
                default: return nil
                }
            }
        }

        /// The name of the field in lowercase, or the name of the derived component with `@`.
        public let name: String
        /// The parameters, in order. The order matters only for the text.
        let parameters: [Parameter]

        init(_ name: String, _ parameters: [Parameter] = []) { (self.name, self.parameters) = (name, parameters) }

        // MARK: Derived components

        /// The method of the request (`@method`).
        public static let method = SignatureComponent("@method")
        /// The URL of the request with its scheme, authority, path and query (`@target-uri`).
        public static let targetURI = SignatureComponent("@target-uri")
        /// The host in lowercase, and the port if it isn't the scheme's default (`@authority`).
        public static let authority = SignatureComponent("@authority")
        /// The scheme in lowercase (`@scheme`).
        public static let scheme = SignatureComponent("@scheme")
        /// The path and query of the request (`@request-target`). Requests without TLS through a proxy have the whole URL as
        /// their target instead.
        public static let requestTarget = SignatureComponent("@request-target")
        /// The path of the request (`@path`).
        public static let path = SignatureComponent("@path")
        /// The query of the request, with its question mark (`@query`).
        public static let query = SignatureComponent("@query")
        /// The status of the response (`@status`).
        public static let status = SignatureComponent("@status")
        /// The field `Content-Digest` (RFC 9530). A signer adds the field to the request, and a verifier compares it with the body.
        public static let contentDigest = SignatureComponent("content-digest")

        /// One parameter of the query (`@query-param`).
        ///
        /// - Parameter name: The name, without percent escapes. The query must contain it exactly once.
        public static func queryParameter(_ name: String) -> SignatureComponent {
            SignatureComponent("@query-param", [.name(FormEncoding.encoded(Array(name.utf8)))])
        }

        // MARK: Fields

        /// A field. Several values are joined with commas (section 2.1).
        ///
        /// - Parameter name: The name. The case doesn't matter.
        public static func field(_ name: String) -> SignatureComponent { SignatureComponent(name.lowercased()) }

        /// A structured field in its strict form (`sf`, section 2.1.1).
        public static func structuredField(_ name: String) -> SignatureComponent {
            SignatureComponent(name.lowercased(), [.structured])
        }

        /// One member of a field that is a dictionary (`key`, section 2.1.2).
        public static func member(_ key: String, of name: String) -> SignatureComponent {
            SignatureComponent(name.lowercased(), [.key(key)])
        }

        /// A field whose values are wrapped as bytes (`bs`, section 2.1.3). Use it for values that contain commas, such as `Set-Cookie`, or
        /// characters outside of ASCII.
        public static func bytesOfField(_ name: String) -> SignatureComponent {
            SignatureComponent(name.lowercased(), [.bytes])
        }

        /// This component of the request, for use in the signature of the response (`req`, section 2.4).
        public var ofRequest: SignatureComponent {
            parameters.contains(.request) ? self : SignatureComponent(name, parameters + [.request])
        }

        // MARK: Text

        /// Reads a component from the list of covered components. Returns nil if its name or a parameter is invalid or unknown.
        init?(_ item: Item) {
            guard case .string(let name) = item.rfc9651BareItem, name == name.lowercased() else { return nil }
            var parameters: [Parameter] = []
            for (key, value) in item.rfc9651Parameters {
                guard let parameter = Parameter(key, value) else { return nil }
                parameters.append(parameter)
            }
            self.init(name, parameters)
        }

        var item: Item {
            var map = OrderedMap<String, RFC9651BareItem>()
            for parameter in parameters {
                let (key, value) = parameter.keyAndValue
                map[key] = value
            }
            return Item(bareItem: .string(name), parameters: map)
        }

        /// The key of the covered member of a dictionary; nil if the component is the whole field.
        var dictionaryKey: String? {
            for case .key(let key) in parameters { return key }
            return nil
        }

        /// Whether the component is the digest of the message's own content.
        var isContentDigest: Bool {
            name == "content-digest" && !parameters.contains(.request) && !parameters.contains(.trailer)
        }

        /// Returns whether the component contains all values of a field of the message itself.
        func covers(_ field: HTTPField.Name) -> Bool {
            name == field.canonicalName && parameters.allSatisfy { $0 == .structured || $0 == .bytes }
        }
    }

    extension SignatureComponent: Hashable {
        /// Returns whether two components are the same. The order of their parameters doesn't matter (RFC 9421, section 2).
        public static func == (lhs: Self, rhs: Self) -> Bool {
            lhs.name == rhs.name && Set(lhs.parameters) == Set(rhs.parameters)
        }

        /// Hashes the name and the parameters.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
            hasher.combine(Set(parameters))
        }
    }

    extension SignatureComponent: ExpressibleByStringLiteral, CustomStringConvertible {
        /// Creates a component for a field with this name.
        public init(stringLiteral name: String) { self = .field(name) }

        /// The component as it appears in a signature, such as `"content-digest";req`.
        public var description: String { (try? FieldText.text(of: item)) ?? name }
    }
#endif
