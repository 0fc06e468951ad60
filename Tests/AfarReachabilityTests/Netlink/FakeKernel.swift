#if os(Linux)
    import Foundation

    @testable import AfarReachability

    /// A replacement for the kernel's end of a netlink socket. It responds to requests with prepared messages.
    final class FakeKernel: Sendable {
        typealias Answer = @Sendable (_ type: UInt16, _ number: Int) -> [MessageBuilder]?

        private let answer: Answer

        /// Creates a kernel.
        ///
        /// - Parameter answer: A closure that receives the type of a request and the number of earlier requests of this
        ///   type. If it returns `nil`, the request isn't supported.
        init(_ answer: @escaping Answer) { self.answer = answer }

        /// A reader that is connected to this kernel.
        var reader: KernelReader {
            KernelReader(
                connect: { [self] _ throws(ReachabilityError) in
                    var ends: [Int32] = [0, 0]
                    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
                    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw ReachabilityError("make a pair") }
                    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
                    let end = ends[1]
                    Thread.detachNewThread { self.serve(end) }
                    return NetlinkSocket(pairedTo: ends[0])
                }, wirelessFamily: WirelessFamily())
        }

        private func serve(_ descriptor: Int32) {
            defer { close(descriptor) }
            var request = [UInt8](repeating: 0, count: 4096)
            var counts: [UInt16: Int] = [:]
            while recv(descriptor, &request, request.count, 0) >= 16 {
                let (type, sequence) = request.withUnsafeBytes {
                    (
                        $0.loadUnaligned(fromByteOffset: 4, as: UInt16.self),
                        $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
                    )
                }
                counts[type, default: -1] += 1
                let messages = answer(type, counts[type] ?? 0)
                let end = MessageBuilder(
                    type: messages == nil ? 2 : 3, body: MessageBuilder.bytes(Int32(messages == nil ? -EOPNOTSUPP : 0)))
                // Each message is a separate datagram.
                for message in (messages ?? []) + [end] {
                    let bytes = message.finished(sequence: sequence)
                    _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }
#endif
