import Afar
import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

@Suite(.timeLimit(.minutes(10))) struct HeaderArgumentTests {
    private func combined(_ fields: String...) throws -> (HTTPHeaders, removed: [String]) {
        HTTPHeaders.combining(try fields.map { try HeaderArgument($0) })
    }

    @Test func headersAreTrimmed() throws {
        #expect(try HeaderArgument("Name :  a: b ") == HeaderArgument(name: "Name", content: .text("a: b")))
        #expect(throws: Failure.self) { try HeaderArgument(": b") }
    }

    @Test func removedAndEmptyHeadersDiffer() throws {
        #expect(try HeaderArgument("Name:").content == .removed)
        #expect(try HeaderArgument("Name:  ").content == .removed)
        #expect(try HeaderArgument("Name;").content == .empty)
        #expect(try RequestItem("Name: ").header.content == .removed)
        #expect(try RequestItem("Name;").header.content == .empty)
    }

    @Test func storedHeadersAreSentAgain() {
        for header in [HeaderArgument(name: "X-A", content: .empty), HeaderArgument(name: "X-A", text: "b:c;")] {
            #expect(HeaderArgument(storedName: "X-A", value: header.value ?? "-") == header)
        }
        #expect(HeaderArgument(storedName: "X-A", value: " \t").content == .empty)
    }

    @Test func listsAreJoined() throws {
        let (headers, removed) = try combined("Accept: a", "accept: b", "cookie: x", "Cookie: y", "X-A;", "X-A: 1")
        #expect(headers.value(for: "Accept") == "a, b")
        #expect(headers.value(for: "Cookie") == "x; y")
        #expect(headers.value(for: "X-A") == "1")
        #expect(headers.count == 3 && removed.isEmpty)
    }

    @Test(arguments: ["Content-Type", "host", "Authorization", "Content-Length", "User-Agent", "Range", "Referer"])
    func theLastSingleValueIsSent(name: String) throws {
        #expect(try combined("\(name): a", "X-A: 1", "\(name.uppercased()): b").0.value(for: name) == "b")
        #expect(try combined("\(name): a", "\(name);").0.value(for: name) == "")
    }

    @Test func headersCanBeRemovedOrEmpty() throws {
        let (headers, removed) = try combined("Accept:", "X-Empty;", "User-Agent:", "User-Agent: a")
        #expect(headers.count == 2 && headers["X-Empty"] == "" && headers["User-Agent"] == "a")
        #expect(removed == ["Accept"])
    }

    private static let defaults = ["Accept", "Accept-Encoding", "User-Agent"]

    #if canImport(AfarCurl)
        @Test(arguments: defaults, ["afar", "curl"])
        func eachDefaultHeaderCanBeRemoved(name: String, transport: String) async throws {
            let server = try await TestServer.start()
            let url = server.url("/anything").absoluteString
            let others = Self.defaults.filter { $0 != name }
            for arguments in [["-H", "\(name):"], ["\(name):"]] {
                _ = try await Tool.run([url, "--transport", transport] + arguments)
                let headers = try #require(server.lastRequest(path: "/anything")).headers
                #expect(headers[name] == nil)
                #expect(others.allSatisfy { headers[$0] != nil })
            }
            await server.stop()
        }
    #endif

    @Test func aRemovedHeaderIsNotSentAfterARedirect() async throws {
        let server = try await TestServer.start()
        let outcome = try await Tool.run(server.url("/redirect/1").absoluteString, "Accept:", "-v")
        #expect(outcome.status == 0 && !outcome.errors.contains("> Accept:"), "\(outcome.errors)")
        #expect(try #require(server.lastRequest(path: "/get")).headers["Accept"] == nil)
        await server.stop()
    }

    @Test func theContentTypeCanBeRemoved() async throws {
        let server = try await TestServer.start()
        let url = server.url("/anything").absoluteString
        for arguments in [["post", url, "a=1"], ["upload", url, "--file", "/etc/passwd"]] {
            let outcome = try await Tool.run(arguments + ["-H", "Content-Type:"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try #require(server.lastRequest(path: "/anything")).headers["Content-Type"] == nil)
        }
        await server.stop()
    }

    @Test func requiredHeadersCannotBeRemoved() async throws {
        let host = try await Tool.run(":1/", "Host:")
        #expect(host.status == 2 && host.errors.contains("can't remove Host"))
        let length = try await Tool.run("post", ":1/", "Content-Length:", "a=1")
        #expect(length.status == 2 && length.errors.contains("can't remove Content-Length"))
    }

    @Test func theOutputShowsWhatIsRemoved() async throws {
        let offline = try await Tool.run(":1/x", "Accept:", "--offline")
        #expect(offline.status == 0 && !offline.text.contains("Accept:"))
        let printed = try await Tool.run(":1/x", "Accept:", "Accept-Encoding:", "--curl")
        #expect(printed.text.hasPrefix("curl -H Accept: -H Accept-Encoding: --compressed "), "\(printed.text)")
    }

    @Test func theServerReceivesOneValue() async throws {
        let server = try await TestServer.start()
        let arguments = ["Content-Type:a/b", "Content-Type:c/d", "X-A:1", "X-A:2", "X-Empty;"]
        _ = try await Tool.run(["post", server.url("/anything").absoluteString, "--raw", "x"] + arguments)
        let headers = try #require(server.lastRequest(path: "/anything")).headers
        #expect(headers["Content-Type"] == "c/d" && headers["X-A"] == "1, 2" && headers["X-Empty"] == "")
        await server.stop()
    }
}
