import Foundation
import Testing

/// The list of guarantees next to this file refers to existing tests.
@Suite struct GuaranteeListTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    /// The tests in the list, as suite and function.
    private static let named: [String] = {
        let text = (try? String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)) ?? ""
        return text.matches(of: /`([A-Za-z]+Tests\/[A-Za-z0-9]+)`/).map { String($0.output.1) }
    }()

    /// The functions in each test file, by the name of the file.
    private static let functions: [String: Set<String>] = {
        var functions: [String: Set<String>] = [:]
        let tests = folder.deletingLastPathComponent().deletingLastPathComponent()
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        for case let file as URL in files ?? .init() where file.lastPathComponent.hasSuffix("Tests.swift") {
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            let names = text.matches(of: /@Test[^{}]*?func ([A-Za-z0-9]+)\(/).map { String($0.output.1) }
            functions[file.deletingPathExtension().lastPathComponent, default: []].formUnion(names)
        }
        return functions
    }()

    @Test func theListIsFound() {
        #expect(Self.named.count > 50)
    }

    @Test(arguments: named)
    func everyNamedTestExists(name: String) {
        let parts = name.split(separator: "/").map(String.init)
        #expect(Self.functions[parts[0]]?.contains(parts[1]) == true)
    }

    /// The list contains all tests of guarantees.
    @Test func everyTestInThisFolderIsNamed() {
        let suites = Self.functions.filter { $0.key.hasSuffix("GuaranteeTests") }
        #expect(suites.count >= 7)
        let tests = suites.flatMap { suite, names in names.map { "\(suite)/\($0)" } }
        #expect(Set(tests).subtracting(Self.named).sorted() == [])
    }
}
