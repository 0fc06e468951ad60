/// What the 4.x generation called the completion of a retrier. It takes a ``RetryResult`` in the place of a boolean and a delay:
/// `completion(.retryWithDelay(1))`.
public typealias RequestRetryCompletion = @Sendable (RetryResult) -> Void
