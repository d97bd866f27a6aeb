package import SyncCore

/// A change as it is sent, kept so that it can be sent again just so.
package struct FrozenRequest: Sendable {
    package enum Kind: String, Sendable { case create, update, delete }

    package let id: Int64
    package let entity: String
    package let kind: Kind
    /// What the server calls the row; of a new row the id that it is given here, nil where the server gives it.
    package let remoteID: JSONValue?
    /// The members that are sent.
    package let body: JSONValue
    /// The version that the change was made on.
    package let version: String?
    /// The same for every try to send it.
    package let idempotencyKey: String
    /// The counter of the edit that is sent.
    package let edit: Int64
    /// When it was frozen, in milliseconds since 1970.
    package let frozen: Int64
    /// How often it was sent and never answered; more than 0 if a try may have been carried out.
    package let attempts: Int
    /// What tells whether a row of the server is the one that was sent: the members of its natural key.
    package let naturalKey: JSONValue?
    /// Whether it makes a row anew that the server deleted: another device may have done so already.
    package let isRevival: Bool
    /// The counter of edits when the server said that it took a new row, without saying which it is: it is looked for, and not sent
    /// again but for ``isSentOnceMore``. Nil for other requests.
    package let taken: Int64?

    /// Whether a later run sends it once more if its row is not listed: it is not certain that the server took it.
    package var isSentOnceMore: Bool { taken != nil && attempts == 1 }

    /// Whether it makes a row that an earlier try, which was never answered, may have made.
    package var isTriedAgain: Bool { kind == .create && attempts > 0 }

    package init(
        id: Int64, entity: String, kind: Kind, remoteID: JSONValue?, body: JSONValue, version: String?,
        idempotencyKey: String, edit: Int64, frozen: Int64, attempts: Int, naturalKey: JSONValue?,
        isRevival: Bool = false, taken: Int64? = nil
    ) {
        self.id = id
        self.entity = entity
        self.kind = kind
        self.remoteID = remoteID
        self.body = body
        self.version = version
        self.idempotencyKey = idempotencyKey
        self.edit = edit
        self.frozen = frozen
        self.attempts = attempts
        self.naturalKey = naturalKey
        self.isRevival = isRevival
        self.taken = taken
    }
}

/// What became of a request.
package struct SettledRequest: Sendable {
    package enum Outcome: Sendable {
        /// The server did it. `row` is what it said of the row: of a new one at least its id.
        case applied(PulledPage.Row?)
        /// The server has another version by now, or the row in another way: it is merged, and sent again.
        case conflict(PulledPage.Row?)
        /// The server does not have the row any more.
        case gone
        /// An earlier try made the row, and the row was deleted on the server since.
        case deletedSinceMade
        /// The server will never take it.
        case rejected(String)
        /// The server refused it, and may have carried out an earlier try, of which nobody heard.
        case refusedAgain(String)
        /// Nobody knows, again and again, of a service that answers otherwise.
        case failing(String)
        /// It was certainly not done, for a reason that passes.
        case postponed
        /// Nobody knows, and it does no harm to do it again: what became of it shows in a pull, or when it is.
        case unanswered
        /// Nobody knows.
        case unknown
        /// The server took a new row, and does not list it yet. If that is not certain, what stands between may have said so.
        case taken(isCertain: Bool)
        /// The server took a new row, and did not list it for as long as that may take: for this reason its row is parked.
        case notListed(String)
    }

    package let request: FrozenRequest
    package let outcome: Outcome

    package init(request: FrozenRequest, outcome: Outcome) {
        self.request = request
        self.outcome = outcome
    }
}
