import AfarTransport

/// Lets tasks run on a loop's thread.
final class LoopExecutor: TaskExecutor {
    private let loop: CurlLoop
    /// Its loop runs as long as the transport is there.
    private let transport: CurlTransport

    init(loop: CurlLoop, of transport: CurlTransport) {
        self.loop = loop
        self.transport = transport
    }

    func enqueue(_ job: consuming ExecutorJob) { loop.post(.run(InlineJob(UnownedJob(job), of: self))) }
}
