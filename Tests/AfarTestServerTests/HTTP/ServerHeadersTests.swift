import AfarTestServer
import Testing

struct ServerHeadersTests {
    @Test func namesAreCaseInsensitive() {
        var headers: ServerHeaders = ["Accept": "a", "X-One": "1", "accept": "b"]
        #expect(headers["ACCEPT"] == "a, b")
        #expect(headers.values(of: "accept") == ["a", "b"])
        #expect(headers["missing"] == nil)
        headers["accept"] = "c"
        #expect(headers.fields.map(\.name) == ["X-One", "accept"])
        headers["x-one"] = nil
        #expect(headers.fields.count == 1)
    }

    @Test func aValueCannotStartAnotherLine() {
        let headers: ServerHeaders = ["A": "1\r\nB: 2"]
        #expect(headers["A"] == "1  B: 2")
    }
}
