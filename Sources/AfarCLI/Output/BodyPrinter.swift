import Afar

/// Turns responses into what is written to the standard output.
protocol BodyPrinter {
    /// The head, if it is wanted, and the body.
    ///
    /// - Throws: A ``Failure`` when the body is not what it has to be.
    func output(head: ResponseHead, body: Data) throws -> Data
}
