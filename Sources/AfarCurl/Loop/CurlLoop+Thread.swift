import CEpoll
import CLibcurl
import Foundation

extension CurlLoop {
    /// Not by Foundation, whose threads stay silent when there is none to be had.
    func startThread() throws {
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            throw POSIXError(.init(rawValue: code) ?? .EAGAIN)
        }
        pthread_detach(thread)
    }

    /// What the thread does before anything else.
    func prepareThread() {
        nameThread()
        blockSIGPIPE()
    }

    /// For debuggers and `top`; Foundation's name for a thread does not reach the system.
    private func nameThread() {
        #if os(Linux)
            afar_name_thread("afar.curl")
        #endif
    }

    private func blockSIGPIPE() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
