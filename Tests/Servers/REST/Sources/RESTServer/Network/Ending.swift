/// How a request ends on the network.
enum Ending: Sendable {
    /// With the whole answer.
    case answer(Answer)
    /// With half of the answer's body under the length of the whole, then a closed connection.
    case cut(Answer)
    /// With a closed connection and not a byte.
    case drop
    /// Not at all, until the client gives up.
    case stall
}
