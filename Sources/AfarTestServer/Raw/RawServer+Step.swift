public import Foundation

extension RawServer {
    /// One step of a script.
    public struct Step: Sendable {
        indirect enum Action: Sendable {
            case send([UInt8], every: Double, times: Int)
            case receiveHead
            case receive(Int)
            case receiveAll
            case wait(Double?)
            case hold(Gate)
            case mark(String)
            case halfClose
            case close
            case reset
            case group([Step])
            case loop([Step])
        }

        let action: Action

        /// Sends text as UTF-8.
        public static func send(_ text: String) -> Step { send(Array(text.utf8)) }

        /// Sends bytes.
        public static func send(_ bytes: [UInt8]) -> Step { Step(action: .send(bytes, every: 0, times: 1)) }

        /// Sends bytes.
        public static func send(_ data: Data) -> Step { send(Array(data)) }

        /// Sends the same text a number of times, after a pause in seconds each.
        public static func `repeat`(_ text: String, every seconds: Double, times: Int) -> Step {
            `repeat`(Array(text.utf8), every: seconds, times: times)
        }

        /// Sends the same bytes a number of times, after a pause in seconds each.
        public static func `repeat`(_ bytes: [UInt8], every seconds: Double, times: Int) -> Step {
            Step(action: .send(bytes, every: seconds, times: times))
        }

        /// Waits for a whole request head, up to and including the blank line, and keeps it. What follows it is left to
        /// later steps.
        public static var receiveHead: Step { Step(action: .receiveHead) }

        /// Reads exactly this many bytes.
        public static func receive(_ count: Int) -> Step { Step(action: .receive(count)) }

        /// Reads until the peer has said that nothing more follows; the script goes on then.
        public static var receiveAll: Step { Step(action: .receiveAll) }

        /// Does nothing, and reads nothing, for some seconds.
        public static func wait(_ seconds: Double) -> Step { Step(action: .wait(seconds)) }

        /// Does nothing, and reads nothing, until the peer closes or the server stops.
        public static var waitForever: Step { Step(action: .wait(nil)) }

        /// Does nothing, and reads nothing, until the gate is open.
        public static func hold(_ gate: Gate) -> Step { Step(action: .hold(gate)) }

        /// Notes that the script has come this far, so that all bytes of the steps before are on their way to the peer;
        /// ``RawServer/reached(_:connection:)`` awaits it.
        public static func mark(_ name: String) -> Step { Step(action: .mark(name)) }

        /// Says to the peer that no more bytes follow, and goes on reading.
        public static var halfClose: Step { Step(action: .halfClose) }

        /// Closes the connection and ends the script. The system makes a reset of it when there are unread bytes.
        public static var close: Step { Step(action: .close) }

        /// Closes the connection with a reset and ends the script.
        public static var reset: Step { Step(action: .reset) }

        /// Receives a request head and sends an answer; a request's body is left to later steps.
        public static func respond(_ text: String) -> Step { Step(action: .group([.receiveHead, .send(text)])) }

        /// Plays steps over and over until one of them ends the connection or the peer closes it.
        public static func loop(_ steps: [Step]) -> Step { Step(action: .loop(steps)) }
    }
}
