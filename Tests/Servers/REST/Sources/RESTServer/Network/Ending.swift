/// The ending of a request on the network.
enum Ending: Sendable {
    /// The complete answer.
    case answer(Answer)
    /// Half of the answer's body with the length of the whole one, then a closed connection.
    case cut(Answer)
    /// A closed connection without any bytes.
    case drop
    /// No answer until the client gives up.
    case stall
}
