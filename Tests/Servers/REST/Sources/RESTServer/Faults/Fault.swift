/// A fault: the requests that fail, and how.
struct Fault: Sendable, Equatable {
    /// The requests that fail.
    enum Turn: Equatable {
        /// The request with this number.
        case at(Int)
        /// Each request whose number is a multiple of this.
        case every(Int)
    }

    /// The kinds of faults.
    enum Kind: String, CaseIterable {
        /// Answers the status and body of the fault. The request is not applied.
        case status
        /// Closes the connection. The request is not applied.
        case dropBefore = "drop-before"
        /// Applies the request and closes the connection without an answer.
        case dropAfter = "drop-after"
        /// Applies the request and closes the connection in the middle of the answer.
        case cut
        /// Neither applies nor answers the request.
        case stall
        /// Answers an HTML page, as a login to a network does. The request is not applied.
        case html
        /// Answers an empty body. The request is not applied.
        case empty
        /// Answers bytes that are neither JSON nor UTF-8. The request is not applied.
        case malformed
    }

    /// The requests that fail.
    let turn: Turn
    /// The kind of the fault.
    let kind: Kind
    /// The status of the kind `status`.
    var status = 500
    /// The header `Retry-After` of the kind `status`.
    var retryAfter: String?
    /// The body of the kind `status`; nil for a message.
    var body: String?

    /// Returns whether the request with this number fails.
    func concerns(_ number: Int) -> Bool {
        switch turn {
        case .at(let turn): number == turn
        case .every(let count): number.isMultiple(of: count)
        }
    }
}
