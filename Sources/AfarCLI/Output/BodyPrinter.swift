import Afar

/// Turns responses into what is written to the standard output.
protocol BodyPrinter {
    /// What is written for a response.
    ///
    /// - Parameters:
    ///   - head: Its final head; the printer knows whether it is wanted.
    ///   - body: All of its body, after content decoding.
    /// - Throws: A ``Failure`` when the body is not what it has to be.
    func output(head: ResponseHead, body: Data) throws -> Data
}
