/// A request that is to go wrong: which one, and how.
struct Fault: Sendable, Equatable {
    /// Which requests go wrong.
    enum Turn: Equatable {
        /// The one with this number.
        case at(Int)
        /// All whose number this divides.
        case every(Int)
    }

    /// How a request goes wrong.
    enum Kind: String, CaseIterable {
        /// The status and body of the fault are answered, and nothing is carried out.
        case status
        /// The connection closes, and nothing is carried out.
        case dropBefore = "drop-before"
        /// The request is carried out, and the connection closes without an answer.
        case dropAfter = "drop-after"
        /// The request is carried out, and the connection closes in the middle of the answer.
        case cut
        /// Nothing is carried out or answered.
        case stall
        /// An HTML page is answered, as of a login to a network, and nothing is carried out.
        case html
        /// A body of no bytes is answered, and nothing is carried out.
        case empty
        /// Bytes that are neither JSON nor UTF-8 are answered, and nothing is carried out.
        case malformed
    }

    /// Which requests go wrong.
    let turn: Turn
    /// How they do.
    let kind: Kind
    /// What the kind `status` answers.
    var status = 500
    /// The header that goes with it.
    var retryAfter: String?
    /// The text that goes with it, in place of a message.
    var body: String?

    /// Whether the request with this number goes wrong.
    func concerns(_ number: Int) -> Bool {
        switch turn {
        case .at(let turn): number == turn
        case .every(let count): number.isMultiple(of: count)
        }
    }
}
