import AfarHTTP1
import AfarTransport
import Foundation
import HTTPTypes

/// A negotiation with a proxy before the connection can be used. It never reads beyond the proxy's last byte, because later bytes
/// come from the host.
protocol ProxyNegotiation: AnyObject {
    /// Continues as far as possible. Returns whether the connection to the host is open.
    func proceed(on stream: any ByteStream) throws(Fault) -> Bool
}

/// The bytes that are sent to a proxy and received from it.
private struct Dialogue {
    private var unsent: [UInt8] = []
    private(set) var received: [UInt8] = []

    mutating func send(_ bytes: [UInt8]) { (unsent, received) = (bytes, []) }

    /// Sends the remaining bytes, then reads a number of bytes. Returns whether that number of bytes has arrived.
    mutating func receive(_ count: Int, on stream: any ByteStream) throws(Fault) -> Bool {
        while !unsent.isEmpty {
            guard let sent = try Self.count(unsent.withUnsafeBytes { stream.write($0) }) else { return false }
            unsent.removeFirst(sent)
        }
        while received.count < count {
            var buffer = [UInt8](repeating: 0, count: count - received.count)
            guard let read = try Self.count(buffer.withUnsafeMutableBytes { stream.read(into: $0) }) else {
                return false
            }
            received += buffer[..<read]
        }
        return true
    }

    /// Returns the number of bytes that were transferred; nil if the stream would block.
    private static func count(_ result: StreamResult) throws(Fault) -> Int? {
        switch result {
        case .bytes(let count): return count
        case .wouldBlock: return nil
        case .end: throw Fault(.proxyFailed, "the proxy closed the connection before it connected to the host")
        case .failed(let fault):
            throw Fault(
                .proxyFailed, "the connection to the proxy was lost before it connected to the host",
                systemError: fault.systemError)
        }
    }
}

/// A request for a tunnel (CONNECT; RFC 9110, section 9.3.6).
final class TunnelNegotiation: ProxyNegotiation {
    private var dialogue = Dialogue()
    private var parser: ResponseParser

    init(to host: String, port: Int, authorization: String?) throws(Fault) {
        let authority = HostName.authority(host, port: port)
        var request = HTTPRequest(method: .connect, scheme: nil, authority: authority, path: nil)
        request.headerFields[.proxyAuthorization] = authorization
        dialogue.send(try RequestHead(request, target: .authority).bytes)
        parser = ResponseParser(.init(method: .connect, url: authority), options: ExchangeOptions())
    }

    func proceed(on stream: any ByteStream) throws(Fault) -> Bool {
        while try dialogue.receive(dialogue.received.count + 1, on: stream) {
            var offset = dialogue.received.count - 1
            while let event = try next(&offset) {
                switch event {
                case .informational, .body: continue
                case .head(let head):
                    guard (200...299).contains(head.status) else { throw Self.refusal(head.status) }
                case .end: return true
                }
            }
        }
        return false
    }

    private func next(_ offset: inout Int) throws(Fault) -> ResponseParser.Event? {
        let bytes = dialogue.received
        do throws(Fault) {
            return try bytes.withUnsafeBytes { bytes in
                Result { () throws(Fault) in try parser.next(in: bytes, at: &offset) }
            }.get()
        } catch {
            throw Fault(.proxyFailed, "the proxy's response to CONNECT is not valid: \(error.message)")
        }
    }

    private static func refusal(_ status: Int) -> Fault {
        let reason =
            status == 407 ? "it requires a credential, or does not accept this one (407)" : "its response is \(status)"
        return Fault(.proxyFailed, "the proxy opened no tunnel to the host: \(reason)")
    }
}

/// A negotiation with a SOCKS 5 proxy (RFC 1928), with a user name and password if available (RFC 1929).
final class SOCKSNegotiation: ProxyNegotiation {
    private enum State {
        case method, credential, reply
        /// The rest of the reply: the address from which the proxy connects.
        case boundAddress(Int)
    }

    private static let version: UInt8 = 5
    private static let noMethod: UInt8 = 0xFF
    private static let passwordMethod: UInt8 = 2

    private var dialogue = Dialogue()
    private var state = State.method
    private let credential: [UInt8]?
    private let request: [UInt8]

    /// - Parameter address: The host's address; nil if the proxy looks it up.
    init(to host: String, port: Int, address: SocketAddress?, credential: Proxy.Credential?) throws(Fault) {
        func counted(_ text: String, _ what: String) throws(Fault) -> [UInt8] {
            guard text.utf8.count <= 255 else {
                throw Fault(.invalidUse, "\(what) has \(text.utf8.count) bytes, but SOCKS allows at most 255")
            }
            return [UInt8(text.utf8.count)] + Array(text.utf8)
        }
        if let credential {
            self.credential =
                try [1] + counted(credential.user, "the user name") + counted(credential.password, "the password")
        } else {
            self.credential = nil
        }
        let bytes = (address ?? (try? SocketAddress.lookUp(host, isAddress: true))?.first)?.bytes
        let target: [UInt8] =
            if let bytes { [bytes.count == 4 ? 1 : 4] + bytes } else { try [3] + counted(host, "the host name") }
        request =
            [Self.version, 1, 0] + target + [UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)]
        dialogue.send(credential == nil ? [Self.version, 1, 0] : [Self.version, 2, 0, Self.passwordMethod])
    }

    func proceed(on stream: any ByteStream) throws(Fault) -> Bool {
        while true {
            switch state {
            case .method:
                guard try dialogue.receive(2, on: stream) else { return false }
                try chooseMethod(dialogue.received)
            case .credential:
                guard try dialogue.receive(2, on: stream) else { return false }
                guard dialogue.received[1] == 0 else {
                    throw Fault(.proxyFailed, "the proxy does not accept the user name and password")
                }
                state = .reply
                dialogue.send(request)
            case .reply:
                guard try dialogue.receive(5, on: stream) else { return false }
                state = .boundAddress(try lengthOfReply(dialogue.received))
            case .boundAddress(let count): return try dialogue.receive(count, on: stream)
            }
        }
    }

    private func chooseMethod(_ answer: [UInt8]) throws(Fault) {
        guard answer[0] == Self.version else { throw Fault(.proxyFailed, "the proxy does not support SOCKS 5") }
        switch (answer[1], credential) {
        case (0, _):
            state = .reply
            dialogue.send(request)
        case (Self.passwordMethod, let credential?):
            state = .credential
            dialogue.send(credential)
        case (Self.noMethod, nil): throw Fault(.proxyFailed, "the proxy requires a user name and a password")
        default: throw Fault(.proxyFailed, "the proxy accepts no authentication method that Afar supports")
        }
    }

    /// Returns the length of a reply, from its first five bytes.
    private func lengthOfReply(_ reply: [UInt8]) throws(Fault) -> Int {
        guard reply[0] == Self.version, reply[1] == 0 else {
            throw Fault(.proxyFailed, "the proxy opened no connection to the host: \(Self.reason(reply[1]))")
        }
        switch reply[3] {
        case 1: return 4 + 4 + 2
        case 3: return 4 + 1 + Int(reply[4]) + 2
        case 4: return 4 + 16 + 2
        default: throw Fault(.proxyFailed, "the proxy's reply has an unknown type of address")
        }
    }

    /// Returns the meaning of a reply code (RFC 1928, section 6).
    private static func reason(_ code: UInt8) -> String {
        switch code {
        case 2: "its rules don't allow the connection"
        case 3: "the network is unreachable"
        case 4: "the host is unreachable"
        case 5: "the host refused the connection"
        case 6: "the time to live expired"
        case 7: "it doesn't support the command"
        case 8: "it doesn't support the type of address"
        default: "general failure (\(code))"
        }
    }
}
