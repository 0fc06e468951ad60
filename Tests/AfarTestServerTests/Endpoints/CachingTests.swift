import AfarTestServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CachingTests {
    @Test func supportsCaches() async throws {
        try await withServer { server in
            for serial in 1...2 {
                let answer = try await Curl.get(server.url("/cache/60"))
                #expect(answer.values("Cache-Control") == ["public, max-age=60"])
                #expect(try answer.json["serial"] as? Int == serial)
            }
            #expect(try await Curl.get(server.url("/etag/v1")).values("ETag") == [#""v1""#])
            #expect(try await Curl.get(server.url("/etag/v1"), "-H", #"If-None-Match: "v1""#).status == 304)
            let varying = try await Curl.get(server.url("/vary"), "-H", "Accept-Language: fr")
            #expect(varying.values("Vary") == ["Accept, Accept-Language"])
            #expect(varying.text == "Accept: */*\nAccept-Language: fr\n")
        }
    }
}
