import AfarXML
import Foundation
import Testing

/// Values nested up to the maximum depth of a document.
@Suite struct DepthTests {
    final class Node: Codable {
        var node: [Node]
        var next: Node?
        init(depth: Int) {
            node = depth > 1 ? [Node(depth: depth - 1)] : []
            next = nil
        }
        var depth: Int { 1 + (node.first ?? next).map(\.depth, default: 0) }
    }

    indirect enum Chain: Codable, XMLChoice {
        case link(Chain)
        case end
    }

    /// Runs work on a thread with the given stack size in KB.
    private func onAStack<Value: Sendable>(
        of kilobytes: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Result(catching: work)) }
            thread.stackSize = kilobytes << 10
            thread.start()
        }
    }

    private let depth = XML.ParsingOptions().maximumDepth

    private func nested(_ name: String, depth: Int, around text: String = "") -> String {
        String(repeating: "<\(name)>", count: depth) + text + String(repeating: "</\(name)>", count: depth)
    }

    @Test(arguments: ["node", "next"])
    func recursiveTypesAreDecodedUpToTheMaximumDepth(name: String) async throws {
        let text = nested(name, depth: depth)
        #expect(try await onAStack(of: 8192) { try decoded(Node.self, text).depth } == depth)
        let tooDeep = nested(name, depth: depth + 1)
        await #expect(throws: DecodingError.self) {
            try await onAStack(of: 8192) { try decoded(Node.self, tooDeep).depth }
        }
    }

    @Test func choicesAreCodedUpToTheMaximumDepth() async throws {
        let text = nested("link", depth: depth - 1, around: "<end/>")
        #expect(try await onAStack(of: 8192) { try encoded(try decoded(Chain.self, text)) } == text)
    }

    @Test func deepValuesAreNotEncoded() async throws {
        let depth = depth
        let text = try await onAStack(of: 8192) { try encoded(Node(depth: depth), XMLEncoder(rootName: "node")) }
        #expect(try await onAStack(of: 8192) { try decoded(Node.self, text).depth } == depth)
        await #expect(throws: EncodingError.self) {
            try await onAStack(of: 8192) { try encoded(Node(depth: depth + 1)) }
        }
    }

    @Test(arguments: ["node", "next"])
    func aSmallStackIsAnError(name: String) async throws {
        // The stack space per level depends on the compiler's optimizations.
        let texts = [16, 64, depth].map { nested(name, depth: $0) }
        #expect(try await onAStack(of: 512) { try decoded(Node.self, texts[0]).depth } == 16)
        #expect(try await onAStack(of: 512) { try decoded(Node.self, texts[1]).depth } == 64)
        do {
            #expect(try await onAStack(of: 512) { try decoded(Node.self, texts[2]).depth } == depth)
        } catch let error as DecodingError {
            let description = try #require(error.context?.debugDescription)
            #expect(description.contains("this thread's stack has no room"))
            #expect(description.count < 400)
        }
        do {
            let depth = depth
            #expect(
                try await onAStack(of: 512) { try encoded(Node(depth: depth), XMLEncoder(rootName: "node")) }
                    == nested("node", depth: depth))
        } catch let error as EncodingError {
            #expect(error.context?.debugDescription.contains("this thread's stack has no room") == true)
        }
    }
}

extension Optional {
    fileprivate func map<Value>(_ path: KeyPath<Wrapped, Value>, default value: Value) -> Value {
        self.map { $0[keyPath: path] } ?? value
    }
}
