import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Carries out what happens to a request. ``Attempt`` says in which order.
///
/// One task runs it, in one loop, from the first attempt to the last handler; whoever ends a step only resumes that task.
/// The pipeline is its task's executor as well. It lends the task to whoever awaits the response, so that nobody is woken
/// only to wake another. When nobody does, it runs on Dispatch's threads: of those for tasks there are as many as
/// processors, and people block them to wait for a handler.
final class RequestPipeline: TaskExecutor, @unchecked Sendable {
    // Sendable because what changes is touched by one step at a time, but for the wait, which is behind the request's lock.

    /// What an answer brings along.
    enum Content {
        case urlRequest(URLRequest)
        case adaptationFailure(AFError)
        case failure(AFError)
    }

    struct Answer {
        var event = Attempt.Event.done
        var content: Content?
    }

    private struct Wait {
        var number = 0
        var answer: Answer?
        /// What the answer is when the request is ended from outside.
        var ending: Answer?
        var continuation: UnsafeContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var driver: HopDriver?
        /// Whether the request was ended from outside.
        var isEnded = false
    }

    let request: Request
    let context: SessionState
    /// Touched under the request's lock only.
    @exclusivity(unchecked) private var wait = Wait()
    /// Whether the task runs on the thread of whoever resumed the request, who may hold locks.
    @exclusivity(unchecked) private var isOnCallersThread = false

    // MARK: What is known of the attempt
    //
    // One step at a time touches these, so there is nothing for the runtime to check.

    @exclusivity(unchecked) private var attempt: Attempt
    /// Why the attempt failed, or a serializer did.
    @exclusivity(unchecked) var failure: AFError?
    /// Whether there is an answer to be taken.
    @exclusivity(unchecked) private var isWaiting = false
    /// Whether it is this request's turn to ask an interceptor of the session's.
    @exclusivity(unchecked) var hasTurn = false
    /// Why the attempt before failed.
    @exclusivity(unchecked) var previousFailure: AFError?
    /// The request before its adapters.
    @exclusivity(unchecked) var initialRequest: URLRequest?
    @exclusivity(unchecked) var urlRequest: URLRequest?
    /// What is to be sent.
    @exclusivity(unchecked) var exchange: Exchange?
    /// What brings the exchange to its end, while that lasts.
    @exclusivity(unchecked) var driver: HopDriver?
    /// The number of the wait for what the driver tells.
    @exclusivity(unchecked) var driverWait = 0
    /// What a stage of the exchange waits for.
    @exclusivity(unchecked) var stageWork: (@Sendable () async -> Void)?
    @exclusivity(unchecked) var sendDate = Date()
    /// What the exchange came to.
    @exclusivity(unchecked) var result: Result<TransportResponse, any Error>?
    /// What is done about the handlers.
    @exclusivity(unchecked) var handlerStep = HandlerQueue.Step.done
    /// Whether the request was ended before its handlers' turn came.
    @exclusivity(unchecked) var hadEnded = false

    /// - Parameter isLate: Whether it is for handlers that were added when everything was over.
    init(_ request: Request, forLateHandlers isLate: Bool = false) {
        self.request = request
        context = request.session
        attempt = Attempt(forLateHandlers: isLate)
    }

    /// Starts the task, once.
    ///
    /// - Parameter isAtOnce: Whether it may begin on the calling thread, since nobody's code but Afar's is run before the
    ///   response is there.
    func start(atOnce isAtOnce: Bool) {
        let task: Task<Void, Never>
        if isAtOnce, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            isOnCallersThread = true
            task = Task.immediate(executorPreference: self) { await self.run() }
        } else {
            task = Task(executorPreference: self) { await self.run() }
        }
        let isEnded = withWait { wait in
            wait.task = task
            return wait.isEnded
        }
        if isEnded { task.cancel() }
    }

    /// The request was ended from outside: what runs for it is cancelled.
    func end() {
        let (task, driver, number, ending) = withWait { wait in
            wait.isEnded = true
            return (wait.task, wait.driver, wait.number, wait.ending)
        }
        task?.cancel()
        driver?.cancel()
        if let ending { answer(number, with: ending) }
    }

    private func run() async {
        while advance() { await withUnsafeContinuation { resumeWhenAnswered($0) } }
    }

    /// Carries out one step after the other, up to one whose answer has to be waited for. Returns false when there is none,
    /// and all is over.
    //
    // Apart from the loop, so that the task has next to nothing to keep while it waits.
    @inline(never) private func advance() -> Bool {
        var event = isWaiting ? takeAnswer() : .done
        isWaiting = false
        while true {
            switch attempt.next(after: event) {
            case .perform(let work):
                guard let queue = queue(for: work) else {
                    event = perform(work)
                    continue
                }
                let wait = beginWaiting()
                run(on: queue) { [self] in answer(wait, with: Answer(event: perform(work))) }
                return true
            case .ask(let question):
                if let answer = knownAnswer(to: question) {
                    event = answer
                    continue
                }
                ask(question, beginWaiting())
                return true
            case .over:
                return false
            }
        }
    }

    // MARK: Where steps run

    func enqueue(_ job: consuming ExecutorJob) {
        isOnCallersThread = false
        let job = UnownedJob(job)
        let lent = LentJob(job, of: self)
        if request.borrower?.lend(lent) != true { DispatchQueue.global().async { lent.run() } }
    }

    /// Where a step has to run; nil when it may run right here.
    private func queue(for work: Attempt.Work) -> DispatchQueue? {
        switch work {
        case .makeURLRequest: context.queues.request
        case .makeBody, .presentFile, .commit: request.queue(for: work)
        case .serialize: context.queues.serialization ?? queueForUsersCode
        case .validate: queueForUsersCode
        default: nil
        }
    }

    private var queueForUsersCode: DispatchQueue? { isOnCallersThread ? .global() : nil }

    /// Runs a step on a queue, in a task, which has the task-local values of the pipeline's.
    func run(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        Task(executorPreference: QueueExecutor(queue)) { work() }
    }

    // MARK: Waiting for an answer

    private func withWait<Answer>(_ body: (inout Wait) -> Answer) -> Answer {
        request.mutable.withLock { _ in body(&wait) }
    }

    private func beginWaiting() -> Int {
        isWaiting = true
        // An answer that came twice may have the last of somebody's values, which are not released under the lock.
        let (number, late) = withWait { wait in
            wait.number += 1
            wait.ending = nil
            return (wait.number, wait.answer.take())
        }
        withExtendedLifetime(late) {}
        return number
    }

    /// Ends a wait. Only the first answer to a question counts.
    func answer(_ number: Int, with answer: Answer = Answer()) {
        let continuation = withWait { wait -> UnsafeContinuation<Void, Never>? in
            guard wait.number == number, wait.answer == nil else { return nil }
            wait.answer = answer
            return wait.continuation.take()
        }
        continuation?.resume()
    }

    /// Answers when a piece of asynchronous work is done, which is cancelled when the request is ended from outside.
    func answer(_ number: Int, after work: @escaping @Sendable () async -> Answer) {
        request.run { [self] in answer(number, with: await work()) }
    }

    /// Notes what the answer is when the request is ended from outside.
    func willAnswer(_ number: Int, with ending: Answer) {
        let isEnded = withWait { wait in
            wait.ending = ending
            return wait.isEnded
        }
        if isEnded { answer(number, with: ending) }
    }

    /// Notes what is to be cancelled when the request is ended from outside.
    func willRun(_ driver: HopDriver) {
        // So may the one before.
        let (isEnded, last) = withWait { ($0.isEnded, Swift.exchange(&$0.driver, with: driver)) }
        withExtendedLifetime(last) {}
        if isEnded { driver.cancel() }
    }

    private func resumeWhenAnswered(_ continuation: UnsafeContinuation<Void, Never>) {
        let isAnswered = withWait { wait in
            if wait.answer == nil { wait.continuation = continuation }
            return wait.answer != nil
        }
        if isAnswered { continuation.resume() }
    }

    /// Keeps what the answer brings.
    private func takeAnswer() -> Attempt.Event {
        let answer = withWait { $0.answer.take() }
        switch answer?.content {
        case .urlRequest(let adapted): urlRequest = adapted
        case .adaptationFailure(let error): failure = didFailToAdapt(error)
        case .failure(let error): failure = error
        case nil: break
        }
        return answer?.event ?? .done
    }
}
