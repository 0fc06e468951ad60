import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What happens to a request and in which order, as a pure value: told what one step came to, it says which step is next.
///
/// It begins anew with each attempt, and ends when the handlers have been called. It does nothing itself, and knows no
/// request, lock or clock; ``RequestPipeline`` carries its steps out.
struct Attempt {
    /// A step that is carried out there and then.
    enum Work {
        /// Forgets what the attempt before brought.
        case begin
        /// Makes the `URLRequest` of the caller's values.
        case makeURLRequest
        /// Checks what the adapters have made of it.
        case checkAdapted
        case makeBody
        case makeExchange
        /// Takes what the exchange came to.
        case receive
        /// Shows a download's file to who wants to see it before it is validated.
        case presentFile
        case validate
        /// Moves a download to its destination.
        case commit
        /// The attempt is over; the error says why it failed.
        case complete(AFError?)
        /// Makes everything ready for one attempt more.
        case beginRetry
        /// There will be no other attempt, unless a serializer fails.
        case finish(AFError?)
        /// Looks for the next handler.
        case takeHandler
        case serialize
        /// Keeps a handler's response until all have one.
        case keep(AFError?)
        /// Hands the responses to those who wait for them.
        case release
    }

    /// A step whose end is waited for.
    enum Question {
        /// Has an adapter change the `URLRequest`.
        case adapter(Int)
        /// Waits until the request is resumed.
        case resumption
        /// Sends the exchange, and reads a streamed body.
        case response
        /// Waits for those who were asked about the response's head.
        case headDisposition
        /// Waits for the progress handlers.
        case progress
        /// Asks a retrier about a failure.
        case retrier(Int, AFError)
        /// Waits before a retry, in seconds.
        case delay(TimeInterval)

        /// Whether it goes to an adapter or a retrier.
        var isForInterceptor: Bool {
            switch self {
            case .adapter, .retrier: true
            default: false
            }
        }
    }

    enum Action {
        case perform(Work)
        case ask(Question)
        case over
    }

    /// What a step came to.
    enum Event {
        case done
        /// The step failed, or the request was ended from outside.
        case failed(AFError)
        /// A `URLRequest` was made, and so many adapters are to change it.
        case made(adapters: Int)
        case adapted(URLRequest)
        /// What the exchange came to.
        case received(Result<TransportResponse, any Error>)
        /// The attempt is over: why it failed, which may be a cancel; how many retriers may be asked; and whether it has
        /// shown what to ask for instead, with which no retrier is to be bothered.
        case completed(AFError?, retriers: Int, mustRestart: Bool)
        case decided(RetryResult)
        /// Another handler is there.
        case handlerTaken
        /// A serializer has run: whether it failed, and how many retriers may be asked.
        case serialized(AFError?, retriers: Int)
        /// Every handler has its response, and none has been handed over.
        case allSerialized
    }

    private var last: Action
    /// Why the attempt before failed.
    private(set) var previousFailure: AFError?
    /// Whether a serializer's failure may lead to another attempt.
    private var mayRetrySerialization = false
    private var isSerializing = false
    private var count = 0

    /// - Parameter isLate: Whether everything is over but handlers that were added since.
    init(forLateHandlers isLate: Bool = false) {
        last = .over
        isSerializing = isLate
    }

    /// The step after one that came to `event`; the first one when nothing has happened.
    mutating func next(after event: Event = .done) -> Action {
        last = action(after: event)
        return last
    }

    private mutating func action(after event: Event) -> Action {
        switch last {
        case .over: .perform(isSerializing ? .takeHandler : .begin)
        case .perform(let work): action(after: work, event)
        case .ask(let question): action(after: question, event)
        }
    }

    private mutating func action(after work: Work, _ event: Event) -> Action {
        switch (work, event) {
        case (.beginRetry, .failed(let error)): return giveUp(error)
        case (_, .failed(let error)): return .perform(.complete(error))
        case (.begin, _): return .perform(.makeURLRequest)
        case (.makeURLRequest, .made(let adapters)):
            count = adapters
            return adapters == 0 ? .perform(.makeBody) : .ask(.adapter(0))
        case (.checkAdapted, _): return .perform(.makeBody)
        case (.makeBody, _): return .perform(.makeExchange)
        case (.makeExchange, _): return .ask(.resumption)
        case (.receive, _): return .perform(.presentFile)
        case (.presentFile, _): return .perform(.validate)
        case (.validate, _): return .perform(.commit)
        case (.commit, _): return .perform(.complete(nil))
        case (.complete, .completed(let failure, let retriers, let mustRestart)):
            previousFailure = failure
            mayRetrySerialization = failure == nil
            count = mustRestart ? -1 : retriers
            return .ask(.progress)
        case (.beginRetry, _):
            isSerializing = false
            return .perform(.begin)
        case (.finish, _):
            isSerializing = true
            return .perform(.takeHandler)
        case (.takeHandler, .handlerTaken): return .perform(.serialize)
        case (.takeHandler, .allSerialized): return .perform(.release)
        case (.serialize, .serialized(let failure?, let retriers)) where mayRetrySerialization:
            previousFailure = failure
            count = retriers
            return ask(0)
        case (.serialize, _): return .perform(.keep(nil))
        case (.keep, _), (.release, _): return .perform(.takeHandler)
        default: return .over
        }
    }

    private mutating func action(after question: Question, _ event: Event) -> Action {
        switch (question, event) {
        case (.adapter, .failed(let error)), (.response, .failed(let error)): return .perform(.complete(error))
        case (.adapter(let number), _):
            return number + 1 < count ? .ask(.adapter(number + 1)) : .perform(.checkAdapted)
        case (.resumption, _): return .ask(.response)
        case (.response, _): return .ask(.headDisposition)
        case (.headDisposition, _): return .perform(.receive)
        case (.progress, _):
            guard previousFailure != nil else { return .perform(.finish(nil)) }
            return count < 0 ? .perform(.begin) : ask(0)
        case (.retrier(_, _), .decided(.retry)): return .perform(.beginRetry)
        case (.retrier(_, _), .decided(.retryWithDelay(let seconds))): return .ask(.delay(seconds))
        case (.retrier(_, let failure), .decided(.doNotRetryWithError(let error))):
            return giveUp(.requestRetryFailed(retryError: error, originalError: failure))
        case (.retrier(let number, _), _): return ask(number + 1)
        case (.delay, _): return .perform(.beginRetry)
        }
    }

    /// Asks a retrier about the failure, if there is such a one.
    private func ask(_ number: Int) -> Action {
        guard let previousFailure else { return giveUp(nil) }
        // A retry that could not even begin would not fare better the next time.
        if case .requestRetryFailed = previousFailure { return giveUp(previousFailure) }
        return number < count ? .ask(.retrier(number, previousFailure)) : giveUp(previousFailure)
    }

    private func giveUp(_ failure: AFError?) -> Action {
        .perform(isSerializing ? .keep(failure) : .finish(failure))
    }
}
