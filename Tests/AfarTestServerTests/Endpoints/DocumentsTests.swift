import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DocumentsTests {
    @Test(arguments: [
        ("/json", "application/json"), ("/xml", "application/xml"), ("/html", "text/html; charset=utf-8"),
        ("/text", "text/plain; charset=utf-8"), ("/utf8", "text/plain; charset=utf-8"), ("/image/png", "image/png"),
        ("/plist", "application/x-plist"), ("/plist/binary", "application/x-plist"),
    ])
    func sendsDocumentsOfManyTypes(path: String, type: String) async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url(path))
            #expect(answer.status == 200)
            #expect(answer.values("Content-Type") == [type])
            #expect(!answer.body.isEmpty)
        }
    }

    @Test func sendsDocumentsThatParse() async throws {
        try await withServer { server in
            #expect(try await Curl.get(server.url("/json")).json["name"] as? String == "Ada")
            for path in ["/plist", "/plist/binary"] {
                let data = try await Curl.get(server.url(path)).body
                let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
                #expect(list?["id"] as? Int == 7)
            }
            let image = try await Curl.get(server.url("/image/png")).body
            #expect(image.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
            #expect(image.suffix(4) == Data([0xae, 0x42, 0x60, 0x82]))
            let empty = try await Curl.get(server.url("/empty"))
            #expect(empty.body.isEmpty && empty.values("Content-Length") == ["0"])
        }
    }

    @Test(arguments: SampleText.all.map(\.charset))
    func sendsTextsInManyCharsets(charset: String) async throws {
        let encodings: [String: String.Encoding] = [
            "utf-8": .utf8, "iso-8859-1": .isoLatin1, "windows-1252": .windowsCP1252, "utf-16": .utf16,
            "utf-16le": .utf16LittleEndian, "shift_jis": .shiftJIS,
        ]
        let sample = try #require(SampleText.all.first { $0.charset == charset })
        try await withServer { server in
            let answer = try await Curl.get(server.url("/encoding/\(charset)"))
            #expect(answer.values("Content-Type") == ["text/plain; charset=\(charset)"])
            #expect(answer.body == sample.bytes)
            // Foundation doesn't support EUC-JP on Linux.
            guard let encoding = encodings[charset] else { return }
            #expect(String(data: answer.body, encoding: encoding) == sample.text)
        }
    }

    @Test func rejectsOtherCharsets() async throws {
        try await withServer { server in
            let answer = try await Curl.get(server.url("/encoding/none"))
            #expect(answer.status == 400)
        }
    }
}
