extension Settings {
    /// Reads settings. Missing members keep their defaults, and unknown members are rejected with 400.
    init(_ json: JSON) throws(Refusal) {
        guard let members = json.members else { throw Refusal(400, "settings are an object") }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { try set(name, to: value) }
        try check()
    }

    /// Sets a member; 400 for an unknown name or an invalid value.
    private mutating func set(_ name: String, to value: JSON) throws(Refusal) {
        switch name {
        case "dialect": dialect = try value.choice(for: name)
        case "applicationID": applicationID = try value.word(for: name)
        case "session": session = try value.word(for: name)
        case "fileSize": fileSize = try value.positive(for: name)
        case "replacement": isReplacement = try value.flag(for: name)
        case "conflictStatus": conflictStatus = try value.positive(for: name)
        case "paging": paging = try value.choice(for: name)
        case "pageSize": pageSize = try value.positive(for: name)
        case "envelope": envelope = try value.text(for: name).split(separator: ".").map(String.init)
        case "endIs404": endIs404 = try value.flag(for: name)
        case "ids": ids = try value.choice(for: name)
        case "since": since = try value.word(for: name)
        case "softDelete": softDelete = try value.flag(for: name)
        case "updates": updates = try value.choice(for: name)
        case "preconditions": preconditions = try value.flag(for: name)
        case "idempotency": idempotency = try value.word(for: name)
        case "unique": unique = try value.word(for: name)
        case "required": required = try value.words(for: name)
        case "token": token = try value.word(for: name)
        case "coarseTimes": coarseTimes = try value.flag(for: name)
        default: throw Refusal(400, "\(name) is not a setting")
        }
    }

    /// Rejects invalid combinations.
    private func check() throws(Refusal) {
        if envelope.isEmpty, paging == .next || paging == .cursor {
            throw Refusal(400, "paging \(paging.rawValue) needs an envelope")
        }
        if let member = pagingMember, envelope.first == member {
            throw Refusal(400, "envelope \(member) is taken by the paging")
        }
    }
}
