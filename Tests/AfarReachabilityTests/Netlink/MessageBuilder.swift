#if os(Linux)
    /// Builds messages in the kernel's binary format.
    struct MessageBuilder {
        var type: Int
        var flags: UInt16 = 2
        var body: [UInt8]
        private var attributes: [UInt8] = []

        init(type: Int, body: [UInt8]) {
            self.type = type
            self.body = body
        }

        /// Returns a network interface that is up and has a carrier.
        static func link(
            _ index: Int32, _ name: String, hardware: UInt16 = 1, driverKind: String? = nil, flags: UInt32 = 0x1_0043,
            lower: Int32? = nil
        ) -> MessageBuilder {
            var message = MessageBuilder(
                type: 16, body: [0, 0] + bytes(hardware) + bytes(index) + bytes(flags) + bytes(UInt32(0)))
            message.add(3, Array(name.utf8) + [0])
            if let lower { message.add(5, bytes(lower)) }
            if let driverKind { message.add(18, attribute(1, Array(driverKind.utf8) + [0])) }
            return message
        }

        /// Returns a global address.
        static func address(_ text: [UInt8], of link: UInt32, flags: UInt32 = 0x80) -> MessageBuilder {
            let family: UInt8 = text.count == 4 ? 2 : 10
            var message = MessageBuilder(type: 20, body: [family, 24, 0, 0] + bytes(link))
            message.add(1, text)
            message.add(8, bytes(flags))
            return message
        }

        /// Returns an IPv4 default route.
        static func defaultRoute(_ gateway: [UInt8], over link: UInt32, metric: UInt32) -> MessageBuilder {
            var message = MessageBuilder(type: 24, body: [2, 0, 0, 0, 254, 3, 0, 1] + bytes(UInt32(0)))
            message.add(5, gateway)
            message.add(4, bytes(link))
            message.add(6, bytes(metric))
            return message
        }

        mutating func add(_ type: UInt16, _ value: [UInt8]) {
            attributes += Self.attribute(type, value)
        }

        func finished(sequence: UInt32) -> [UInt8] {
            let length = UInt32(16 + body.count + attributes.count)
            return Self.bytes(length) + Self.bytes(UInt16(type)) + Self.bytes(flags) + Self.bytes(sequence)
                + Self.bytes(UInt32(0)) + body + attributes
        }

        static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
            let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
            return bytes(UInt16(value.count + 4)) + bytes(type) + value + padding
        }

        static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
    }
#endif
