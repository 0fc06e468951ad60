import AfarDNSOverHTTPS
import AfarTransport
import Testing

/// DNS messages (RFC 1035, section 4).
@Suite struct MessageTests {
    /// Builds messages.
    private struct Message {
        var bytes: [UInt8]

        /// Starts with a header and a question.
        init(
            flags: UInt16 = 0x8180, answers: Int, name: [UInt8] = Self.name("a.example"), type: UInt16 = 1,
            questions: UInt8 = 1
        ) {
            bytes = [0, 0] + Self.pair(flags) + [0, questions] + Self.pair(UInt16(answers)) + [0, 0, 0, 0]
            if questions > 0 { bytes += name + Self.pair(type) + [0, 1] }
        }

        static func pair(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

        static func name(_ text: String) -> [UInt8] {
            text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
        }

        mutating func add(
            _ owner: [UInt8], type: UInt16 = 1, class kind: UInt16 = 1, time: UInt32 = 300, _ data: [UInt8],
            length: Int? = nil
        ) {
            bytes += owner + Self.pair(type) + Self.pair(kind)
            bytes += Self.pair(UInt16(time >> 16)) + Self.pair(UInt16(truncatingIfNeeded: time))
            bytes += Self.pair(UInt16(length ?? data.count)) + data
        }
    }

    /// A reference to the question's name.
    private static let question: [UInt8] = [0xC0, 12]

    private func query(_ host: String = "a.example", _ type: DNSRecordType = .a) throws -> DNSQuery {
        try DNSQuery(host: host, type: type)
    }

    private func answer(_ message: Message, _ type: DNSRecordType = .a) throws -> DNSAnswer {
        try DNSAnswer(message.bytes, to: try query("a.example", type))
    }

    /// The example of RFC 8484, section 4.1.1.
    @Test func aQueryHasTheBytesOfTheStandard() throws {
        let query = try query("WWW.example.com")
        #expect(
            query.message == [
                0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0x77, 0x77, 0x77, 7, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 3,
                0x63, 0x6F, 0x6D, 0, 0, 1, 0, 1,
            ])
        #expect(query.host == "www.example.com")
        #expect(try self.query("a", .aaaa).message.suffix(4) == [0, 28, 0, 1])
    }

    @Test(arguments: ["", ".", "a..b", ".a", "a.", "ä.example"])
    func invalidNamesAreErrors(_ host: String) {
        let error = #expect(throws: DNSError.self) { _ = try query(host) }
        #expect(error?.reason == .invalidName)
    }

    @Test func longNamesAreErrors() throws {
        let label = String(repeating: "a", count: 63)
        #expect(throws: DNSError.self) { _ = try query(label + "a") }
        let longest = [label, label, label, String(label.dropLast(2))].joined(separator: ".")
        #expect(longest.utf8.count == 253)
        #expect(try query(longest).message.count == 12 + 255 + 4)
        #expect(throws: DNSError.self) { _ = try query(longest + "a") }
    }

    @Test func addressesAndTheShortestTimeAreRead() throws {
        var message = Message(answers: 3)
        message.add(Self.question, time: 300, [192, 0, 2, 1])
        message.add(Self.question, time: 60, [192, 0, 2, 2])
        message.add(Message.name("other.example"), time: 1, [192, 0, 2, 3])
        let answer = try answer(message)
        #expect(answer.addresses == ["192.0.2.1", "192.0.2.2"].compactMap { SocketAddress($0) })
        #expect(answer.timeToLive == .seconds(60))
        var six = Message(answers: 1, type: 28)
        six.add(Self.question, type: 28, [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [1])
        #expect(try self.answer(six, .aaaa).addresses == [SocketAddress("2001:db8::1")].compactMap(\.self))
    }

    @Test func aliasesAreFollowedInAnyOrderAndCountTowardTheTime() throws {
        var message = Message(answers: 4)
        message.add(Message.name("C.example"), time: 300, [192, 0, 2, 1])
        message.add(Message.name("b.example"), type: 5, time: 20, Message.name("c.EXAMPLE"))
        // A record of another type.
        message.add(Self.question, type: 46, time: 1, [1, 2, 3])
        message.add(Self.question, type: 5, time: 100, Message.name("B.example"))
        let answer = try answer(message)
        #expect(answer.addresses == [SocketAddress("192.0.2.1")].compactMap(\.self))
        #expect(answer.timeToLive == .seconds(20))
    }

    @Test func missingHostsAndAddressesAreEmptyAnswers() throws {
        #expect(try answer(Message(flags: 0x8183, answers: 0)).addresses.isEmpty)
        #expect(try answer(Message(answers: 0)).addresses.isEmpty)
        var alias = Message(answers: 1)
        alias.add(Self.question, type: 5, Message.name("b.example"))
        #expect(try answer(alias) == (try answer(Message(answers: 0))))
    }

    @Test func aTimeWithTheHighestBitIsZero() throws {
        var message = Message(answers: 1)
        message.add(Self.question, time: 0x8000_0000, [192, 0, 2, 1])
        #expect(try answer(message).timeToLive == .zero)
    }

    @Test func failuresAreTyped() throws {
        func reason(_ message: Message) -> DNSError.Reason? {
            #expect(throws: DNSError.self) { _ = try answer(message) }?.reason
        }
        #expect(reason(Message(flags: 0x8182, answers: 0)) == .failure(responseCode: 2))
        #expect(reason(Message(flags: 0x8185, answers: 0)) == .failure(responseCode: 5))
        #expect(reason(Message(flags: 0x8380, answers: 0)) == .truncated)
        let error = DNSError.self
        #expect(throws: error) { _ = try DNSAnswer([], to: query()) }
    }

    @Test func malformedMessagesAreErrors() throws {
        func expectMalformed(_ message: Message, sourceLocation: SourceLocation = #_sourceLocation) {
            let error = #expect(throws: DNSError.self, sourceLocation: sourceLocation) { _ = try answer(message) }
            guard case .malformed = error?.reason else {
                Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
                return
            }
        }
        expectMalformed(Message(flags: 0x0100, answers: 0))
        expectMalformed(Message(flags: 0x8980, answers: 0))
        expectMalformed(Message(answers: 0, questions: 0))
        expectMalformed(Message(answers: 0, type: 28))
        expectMalformed(Message(answers: 0, name: Message.name("b.example")))
        expectMalformed(Message(answers: 1))
        for length in [3, 5, 65_535] {
            var message = Message(answers: 1)
            message.add(Self.question, [192, 0, 2, 1], length: length)
            expectMalformed(message)
        }
        var alias = Message(answers: 1)
        alias.add(Self.question, type: 5, Message.name("b.example") + [0])
        expectMalformed(alias)
        var labels = Message(answers: 1)
        labels.add([0x41, 0], [192, 0, 2, 1])
        expectMalformed(labels)
        var long = Message(answers: 1)
        long.add((0..<5).flatMap { _ in [63] + [UInt8](repeating: 0x61, count: 63) } + [0], [192, 0, 2, 1])
        expectMalformed(long)
        // A name that refers to itself, and two names that refer to each other.
        var loop = Message(answers: 1)
        let start = UInt8(loop.bytes.count)
        loop.add([0xC0, start], [192, 0, 2, 1])
        expectMalformed(loop)
        var pair = Message(answers: 1)
        pair.add([1, 0x61, 0xC0, start + 4, 1, 0x62, 0xC0, start], [192, 0, 2, 1])
        expectMalformed(pair)
        // A loop of aliases.
        var aliases = Message(answers: 2)
        aliases.add(Self.question, type: 5, Message.name("b.example"))
        aliases.add(Message.name("b.example"), type: 5, Self.question)
        expectMalformed(aliases)
        #expect(throws: DNSError.self) {
            _ = try DNSAnswer(Message(answers: 0).bytes + [UInt8](repeating: 0, count: 65_536), to: query())
        }
    }

    @Test func manyAddressesAreLimited() throws {
        var message = Message(answers: 4_000)
        for index in 0..<4_000 {
            message.add(Self.question, [10, 0, UInt8(index >> 8), UInt8(index & 0xFF)])
        }
        #expect(try answer(message).addresses.count == 100)
    }

    /// Every message of a few changed bytes is parsed or refused, without a crash.
    @Test func changedMessagesNeverCrash() throws {
        var message = Message(answers: 3)
        message.add(Self.question, type: 5, Message.name("b.example"))
        message.add(Message.name("b.example"), [192, 0, 2, 1])
        message.add(Self.question, type: 5, Self.question)
        let query = try query()
        var state: UInt64 = 7
        func number(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        for _ in 0..<20_000 {
            var bytes = message.bytes
            for _ in 0...number(below: 4) { bytes[number(below: bytes.count)] = UInt8(number(below: 256)) }
            if number(below: 3) == 0 { bytes.removeLast(number(below: bytes.count)) }
            _ = try? DNSAnswer(bytes, to: query)
        }
    }
}
