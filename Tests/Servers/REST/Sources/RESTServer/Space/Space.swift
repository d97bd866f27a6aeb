/// One service of its own: its rows, how it behaves, and what was asked of it.
///
/// A call is carried out without a pause, so that no two of a space get in each other's way.
actor Space {
    /// How it behaves.
    var settings = Settings()
    /// What goes wrong.
    var faults = FaultPlan()
    /// What was asked of it, but for calls to paths that begin with `_`.
    var log: [LogEntry] = []
    /// The rows by the names of the collections.
    var collections: [String: Rows] = [:]
    /// What a POST with a key was answered with, by collection and key.
    var answered: [[String]: JSON] = [:]
    /// The type of each field, by class and field; of the dialect of Parse.
    var parseTypes: [[String]: String] = [:]
    /// The ids that relations lead to, by class, object and field.
    var parseRelations: [[String]: [String]] = [:]
    /// Files by name; of the dialect of Parse.
    var parseFiles: [String: ParseFile] = [:]
    /// When changes happen.
    var clock = Clock()
    private var lastObjectID = 0

    /// Carries out a call, or has it go wrong if it is the turn of a fault.
    func answer(_ call: Call) -> Ending {
        if call.isControl { return .answer(attempt { () throws(Refusal) in try control(call) }) }
        let ending = outcome(of: call, with: faults.next())
        log.append(LogEntry(call, ending))
        return ending
    }

    /// How a call ends, be it a fault's turn or not.
    private func outcome(of call: Call, with fault: Fault?) -> Ending {
        guard let fault else { return .answer(carryOut(call)) }
        if let answer = fault.answer { return .answer(answer) }
        switch fault.kind {
        case .dropBefore: return .drop
        case .stall: return .stall
        case .cut: return .cut(carryOut(call))
        default:
            _ = carryOut(call)
            return .drop
        }
    }

    /// Answers a call that no fault keeps from being carried out.
    private func carryOut(_ call: Call) -> Answer {
        attempt { () throws(Refusal) in
            if let token = settings.token, call.header("Authorization") != "Bearer \(token)" {
                var refusal = Refusal(401, "the token is missing or wrong")
                refusal.headers = ["WWW-Authenticate": "Bearer"]
                throw refusal
            }
            return switch settings.dialect {
            case .rest: try route(call)
            case .parse: try routeParse(call)
            case .changes: try routeChanges(call)
            }
        }
    }

    /// The answer of the work, or that of its refusal.
    private func attempt(_ work: () throws(Refusal) -> Answer) -> Answer {
        do {
            return try work()
        } catch {
            return error.answer
        }
    }

    /// A number for one more object, whatever it is.
    func nextObjectID() -> Int {
        lastObjectID += 1
        return lastObjectID
    }

    /// The time of one more change.
    func tick() -> Int { clock.tick(coarse: settings.coarseTimes) }
}
