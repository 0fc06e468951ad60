import Afar
import AfarOAuth
import Foundation
import TestServers
import Testing

/// The stores of tokens.
@Suite(.timeLimit(.minutes(5)))
struct TokenStoreTests {
    private static let token = OAuthToken(
        accessToken: "a", type: "DPoP", expirationDate: Date(timeIntervalSince1970: 1_800_000_000), refreshToken: "r",
        scope: "s", idToken: "i", issuedTokenType: "t", otherMembers: ["tenant": "7"])

    private static func mode(_ file: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes[.posixPermissions] as? Int ?? 0) & 0o777
    }

    @Test func aFileKeepsATokenForItsOwner() async throws {
        let folder = try TestFolder()
        let file = folder.url.appending(path: "new/folder/token.json")
        let store = OAuthFileTokenStore(file)
        #expect(try store.load() == nil)
        try await store.update { stored in
            #expect(stored == nil)
            return Self.token
        }
        #expect(try OAuthFileTokenStore(file).load() == Self.token)
        #expect(try Self.mode(file) == 0o600)
        #expect(try Self.mode(file.deletingLastPathComponent()) == 0o700)
        try await store.update { _ in nil }
        #expect(try store.load() == nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
        #expect(names == ["token.json.lock"])
    }

    @Test func aFailedChangeLeavesTheToken() async throws {
        let folder = try TestFolder()
        let store = OAuthFileTokenStore(folder.url.appending(path: "token"))
        try await store.update { _ in Self.token }
        await #expect(throws: URLError.self) { try await store.update { _ in throw URLError(.unknown) } }
        #expect(try store.load() == Self.token)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == ["token", "token.lock"])
    }

    @Test func unsafeAndDamagedFilesAreRefused() async throws {
        let folder = try TestFolder()
        let file = folder.url.appending(path: "token")
        let store = OAuthFileTokenStore(file)
        try await store.update { _ in Self.token }
        for mode in [0o644, 0o640, 0o604, 0o620] {
            chmod(file.path, mode_t(mode))
            #expect(throws: OAuthError.self) { _ = try store.load() }
            await #expect(throws: OAuthError.self) { try await store.update { _ in nil } }
        }
        chmod(file.path, 0o600)
        #expect(try store.load() == Self.token)
        for text in ["", "{", "[", "{}", "null", "{\"accessToken\":1}", "\u{0}"] {
            try Data(text.utf8).write(to: file)
            #expect(throws: OAuthError.self, "\(text)") { _ = try store.load() }
        }
        try FileManager.default.removeItem(at: file)
        let target = folder.url.appending(path: "target")
        try Data("{}".utf8).write(to: target)
        chmod(target.path, 0o600)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
        #expect(throws: OAuthError.self) { _ = try store.load() }
        try FileManager.default.removeItem(at: file)
        mkfifo(file.path, 0o600)
        #expect(throws: OAuthError.self) { _ = try store.load() }
    }

    @Test func changesOfOneProcessRunOneAtATime() async throws {
        let folder = try TestFolder()
        let file = folder.url.appending(path: "token")
        let stores: [any OAuthTokenStore] = [OAuthFileTokenStore(file), OAuthFileTokenStore(file)]
        try await stores[0].update { _ in OAuthToken(accessToken: "0") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    try await stores[index % 2].update { stored in
                        let count = Int(stored?.accessToken ?? "") ?? 0
                        await Task.yield()
                        return OAuthToken(accessToken: "\(count + 1)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[1].load()?.accessToken == "40")
    }

    @Test func aWaitingChangeCanBeCanceled() async throws {
        let folder = try TestFolder()
        let file = folder.url.appending(path: "token")
        let memory = OAuthMemoryTokenStore()
        let pairs: [(any OAuthTokenStore, any OAuthTokenStore)] = [
            (memory, memory), (OAuthFileTokenStore(file), OAuthFileTokenStore(file)),
        ]
        for (first, second) in pairs {
            let (started, release) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
            let holder = Task {
                try await first.update { _ in
                    started.continuation.yield()
                    for await _ in release.stream { break }
                    return Self.token
                }
            }
            for await _ in started.stream { break }
            let waiting = Task {
                try await second.update { _ in
                    Issue.record("The change ran.")
                    return nil
                }
            }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { _ = try await waiting.value }
            release.continuation.yield()
            _ = try await holder.value
            #expect(try await second.update { $0 } == Self.token)
        }
    }

    /// The temporary file of a process that was killed is removed by the next change.
    @Test func temporaryFilesDoNotAccumulate() async throws {
        let folder = try TestFolder()
        let file = folder.url.appending(path: "token")
        let temporary = folder.url.appending(path: "token.tmp")
        for isChanged in [true, false] {
            try Data("partial".utf8).write(to: temporary)
            try await OAuthFileTokenStore(file).update { stored in isChanged ? Self.token : stored }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            #expect(Set(names) == ["token", "token.lock"])
        }
        // Another process replaces the temporary file after the lock's file was removed. It stays the other process's.
        await #expect(throws: OAuthError.self) {
            try await OAuthFileTokenStore(file).update { _ in
                try FileManager.default.removeItem(at: temporary)
                try Data("other".utf8).write(to: temporary)
                return OAuthToken(accessToken: "b")
            }
        }
        #expect(try Data(contentsOf: temporary) == Data("other".utf8))
        #expect(try OAuthFileTokenStore(file).load() == Self.token)
    }

    @Test func descriptionsHaveOneLine() throws {
        let token = OAuthToken(accessToken: "a", type: "x\u{1B}[2J", scope: "files\nadmin\u{202E}")
        for text in ["\(token)", "\(Mirror(reflecting: token).children.map(\.value))"] {
            #expect(!text.unicodeScalars.contains { ["\u{1B}", "\n", "\u{202E}"].contains($0) })
            #expect(text.contains("files admin"))
        }
    }

    /// The lock of a removed file has no effect on processes that lock its successor.
    @Test func aRemovedLockFileIsLockedAgain() async throws {
        let folder = try TestFolder()
        let (file, lock) = (folder.url.appending(path: "token"), folder.url.appending(path: "token.lock"))
        func locked() -> Int32 {
            let descriptor = open(lock.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            return descriptor
        }
        /// The number of descriptors of this process for the file or its removed predecessor.
        func descriptorCount() -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            return names.count { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return target?.hasPrefix(lock.path) == true
            }
        }
        let first = locked()
        let isUnlocked = Locked(false)
        let change = Task {
            try await OAuthFileTokenStore(file).update { _ in
                #expect(isUnlocked.withLock { $0 })
                return Self.token
            }
        }
        while descriptorCount() < 2 { try await Task.sleep(for: .milliseconds(5)) }
        try FileManager.default.removeItem(at: lock)
        let second = locked()
        close(first)
        // The change now waits for the new file.
        while descriptorCount() < 2 { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(50))
        isUnlocked.withLock { $0 = true }
        close(second)
        #expect(try await change.value == Self.token)
    }

    @Test func processesShareOneRefresh() async throws {
        let server = try await AuthlibServer()
        let client = try await server.client("public")
        var token = try await server.userToken(client)
        token.expirationDate = .distantPast
        let folder = try TestFolder()
        let file = folder.url.appending(path: "token")
        let store = OAuthFileTokenStore(file)
        try await store.update { [token] _ in token }
        let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "OAuthProbe")
        let probes = try (0..<4).map { index in
            try ChildProcess(
                [
                    program.path, file.path, server.url("/token").absoluteString, "public",
                    server.url("/resource").absoluteString,
                ], output: folder.url.appending(path: "output-\(index)"))
        }
        for probe in probes { #expect(probe.wait(), "\(probe.output)") }
        let new = try #require(try store.load())
        #expect(probes.map(\.output) == Array(repeating: "used \(new.accessToken)\n", count: 4))
        #expect(try await server.refreshCount() == 1)
        #expect(new.refreshToken != token.refreshToken)
    }
}
