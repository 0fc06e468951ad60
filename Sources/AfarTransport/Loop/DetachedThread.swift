#if os(Linux)
    import CEpoll
    import Foundation

    /// A thread that ends when its function returns. Nothing waits for it.
    package enum DetachedThread {
        private final class Start {
            let name: String
            let body: () -> Void

            init(_ name: String, _ body: @escaping () -> Void) { (self.name, self.body) = (name, body) }

            func run() {
                afar_name_thread(name)
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGPIPE)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                body()
            }
        }

        /// Starts a thread. Foundation's threads don't report that none could be started.
        ///
        /// In the thread, writing to a pipe without a reader fails instead of ending the process.
        ///
        /// - Parameter name: The name for debuggers and `top`, of at most 15 bytes. The name of a Foundation thread doesn't reach the
        ///   system.
        package static func start(_ name: String, _ body: @escaping () -> Void) throws {
            let code = create(Start(name, body))
            guard code == 0 else { throw POSIXError(.init(rawValue: code) ?? .EAGAIN) }
        }

        private static func create(_ start: Start) -> Int32 {
            let context = Unmanaged.passRetained(start)
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { context in
                    if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run() }
                    return nil
                }, context.toOpaque())
            if code == 0 { pthread_detach(thread) } else { context.release() }
            return code
        }
    }
#endif
