extension Fault {
    /// Reads a fault, such as `{"at": 3, "kind": "status", "status": 503, "retryAfter": "1"}`.
    init(_ json: JSON) throws(Refusal) {
        guard let members = json.members else { throw Refusal(400, "a fault is an object") }
        if let unknown = Set(members.keys).subtracting(Self.names).min() {
            throw Refusal(400, "\(unknown) is no member of a fault")
        }
        guard let kind = members["kind"] else { throw Refusal(400, "a fault needs a kind") }
        self.init(turn: try Self.turn(members), kind: try kind.choice(for: "kind"))
        if let value = members["body"] { body = try value.text(for: "body") }
        if let value = members["retryAfter"] {
            retryAfter = if let seconds = value.whole { String(seconds) } else { try value.text(for: "retryAfter") }
        }
        if self.kind == .status { status = try Self.status(members["status"]) }
    }

    /// The allowed members of a fault.
    private static let names: Set = ["at", "every", "kind", "status", "retryAfter", "body"]

    /// Reads the turn of a fault; 400 unless exactly one of the two members is set.
    private static func turn(_ members: [String: JSON]) throws(Refusal) -> Turn {
        switch (members["at"], members["every"]) {
        case (let at?, nil): .at(try at.positive(for: "at"))
        case (nil, let every?): .every(try every.positive(for: "every"))
        default: throw Refusal(400, "a fault needs either at or every")
        }
    }

    /// Reads the status of the answer; 400 for an invalid one.
    private static func status(_ json: JSON?) throws(Refusal) -> Int {
        guard let status = json?.whole, (200...599).contains(status) else {
            throw Refusal(400, "status is not a number from 200 to 599")
        }
        return status
    }
}
