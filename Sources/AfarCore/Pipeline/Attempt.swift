import Foundation

/// What happens to a request and in which order, as a pure value: told what one step came to, it says which step is next.
///
/// It begins anew with each attempt, and ends when the handlers have been called. It does nothing itself, and knows no
/// request, lock or clock, nor what was received or went wrong; ``RequestPipeline`` carries its steps out and keeps that.
struct Attempt {
    /// A step that is carried out there and then.
    enum Work: Hashable {
        /// Forgets what the attempt before brought.
        case begin
        /// Makes the `URLRequest` of the caller's values.
        case makeURLRequest
        /// Checks what the adapters have made of it.
        case checkAdapted
        case makeBody
        case makeExchange
        /// Runs what a stage of the exchange waits for.
        case runStage
        /// Takes what the exchange came to.
        case receive
        /// Shows a download's file to who wants to see it before it is validated.
        case presentFile
        case validate
        /// Moves a download to its destination.
        case commit
        /// The attempt is over, whether it failed or not.
        case complete
        /// Makes everything ready for one attempt more.
        case beginRetry
        /// There will be no other attempt, unless a serializer fails.
        case finish
        /// Looks for the next handler.
        case takeHandler
        case serialize
        /// Notes what a handler's response failed with, as the retriers have left it.
        case keep
        /// Hands the responses to those who wait for them.
        case release
    }

    /// A step whose end is waited for.
    enum Question: Hashable {
        /// Has an adapter change the `URLRequest`.
        case adapter(Int)
        /// Waits until the request is resumed.
        case resumption
        /// Sends the exchange; or goes on with it, when a stage has something to wait for.
        case response
        /// Reads a streamed body.
        case body
        /// Waits for those who were asked about the response's head.
        case headDisposition
        /// Waits for the progress handlers.
        case progress
        /// Asks a retrier about the failure.
        case retrier(Int)
        /// Waits before a retry, in seconds.
        case delay(TimeInterval)
    }

    enum Action: Hashable {
        case perform(Work)
        case ask(Question)
        case over
    }

    /// What a step came to.
    enum Event {
        case done
        /// The step failed, or the request was ended from outside.
        case failed
        /// A `URLRequest` was made, and so many adapters are to change it.
        case made(adapters: Int)
        /// An interceptor of the session's may be asked now.
        case turn
        /// A stage of the exchange waits for something, which is to be run.
        case stageWaits
        /// The response's head is there, and its body is still to be read.
        case streams
        /// The attempt is over: whether it failed, which may be by a cancel, and how many retriers may be asked.
        case completed(hasFailed: Bool, retriers: Int)
        /// A retrier wants another attempt, after so many seconds if it says so.
        case retry(after: TimeInterval?)
        /// A retrier wants no other attempt, whatever the others would say.
        case giveUp
        /// Another handler is there.
        case handlerTaken
        /// A serializer has run: whether it failed, and how many retriers may be asked.
        case serialized(hasFailed: Bool, retriers: Int)
        /// Every handler has its response, and none has been handed over.
        case allSerialized
    }

    private var last = Action.over
    private var hasFailed: Bool
    private var isSerializing: Bool
    /// How many adapters or retriers there are.
    private var interceptorCount = 0

    /// - Parameter isLate: Whether everything is over but handlers that were added since.
    init(forLateHandlers isLate: Bool = false) {
        isSerializing = isLate
        hasFailed = isLate
    }

    /// The step after one that came to `event`; the first one when nothing has happened.
    mutating func next(after event: Event = .done) -> Action {
        switch last {
        case .over: last = .perform(isSerializing ? .takeHandler : .begin)
        case .perform(let work): last = action(after: work, event)
        case .ask(let question): last = action(after: question, event)
        }
        return last
    }

    private mutating func action(after work: Work, _ event: Event) -> Action {
        switch (work, event) {
        case (.beginRetry, .failed): return giveUp
        case (_, .failed): return .perform(.complete)
        case (.begin, _): return .perform(.makeURLRequest)
        case (.makeURLRequest, .made(let adapters)):
            interceptorCount = adapters
            return adapters == 0 ? .perform(.makeBody) : .ask(.adapter(0))
        case (.checkAdapted, _): return .perform(.makeBody)
        case (.makeBody, _): return .perform(.makeExchange)
        case (.makeExchange, _): return .ask(.resumption)
        case (.runStage, _): return .ask(.response)
        case (.receive, _): return .perform(.presentFile)
        case (.presentFile, _): return .perform(.validate)
        case (.validate, _): return .perform(.commit)
        case (.commit, _): return .perform(.complete)
        case (.complete, .completed(let hasFailed, let retriers)):
            self.hasFailed = hasFailed
            interceptorCount = retriers
            return .ask(.progress)
        case (.beginRetry, _):
            isSerializing = false
            return .perform(.begin)
        case (.finish, _):
            isSerializing = true
            return .perform(.takeHandler)
        case (.takeHandler, .handlerTaken): return .perform(.serialize)
        case (.takeHandler, .allSerialized): return .perform(.release)
        case (.serialize, .serialized(hasFailed: true, let retriers)) where !hasFailed:
            interceptorCount = retriers
            return askRetrier(0)
        case (.serialize, _): return .perform(.keep)
        case (.keep, _), (.release, _): return .perform(.takeHandler)
        default: return .over
        }
    }

    private func action(after question: Question, _ event: Event) -> Action {
        switch (question, event) {
        case (.adapter, .turn), (.retrier, .turn): .ask(question)
        case (.adapter, .failed): .perform(.complete)
        case (.adapter(let number), _):
            number + 1 < interceptorCount ? .ask(.adapter(number + 1)) : .perform(.checkAdapted)
        case (.resumption, _): .ask(.response)
        case (.response, .stageWaits): .perform(.runStage)
        case (.response, .streams): .ask(.body)
        case (.response, _): .ask(.headDisposition)
        case (.headDisposition, _), (.body, _): .perform(.receive)
        case (.progress, _): hasFailed ? askRetrier(0) : .perform(.finish)
        case (.retrier, .retry(let delay)): delay.map { .ask(.delay($0)) } ?? .perform(.beginRetry)
        case (.retrier, .giveUp): giveUp
        case (.retrier(let number), _): askRetrier(number + 1)
        case (.delay, _): .perform(.beginRetry)
        }
    }

    /// Asks a retrier about the failure, if there is such a one.
    private func askRetrier(_ number: Int) -> Action {
        number < interceptorCount ? .ask(.retrier(number)) : giveUp
    }

    private var giveUp: Action { .perform(isSerializing ? .keep : .finish) }
}
