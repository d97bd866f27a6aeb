#if Macros
    import SwiftDiagnostics

    /// What is wrong with a type that has `@Entity`.
    enum EntityProblem: DiagnosticMessage {
        case noStruct
        case noPrimaryKey(String)
        case unknownKey(String)
        case noType(String)
        case unfitType(String, String)
        case reservedName(String, String)
        case unfitRelationship(String, String)
        case initialRows(String)
        case otherInverse(String, root: String, target: String)
        case sameRemoteKey(String, String, String)

        var message: String {
            switch self {
            case .noStruct: "'@Entity' is for structs"
            case .noPrimaryKey(let name):
                "'\(name)' has no primary key: no property is marked '@PrimaryKey', and none is called 'id' or 'remoteID'"
            case .unknownKey(let name): "there is no property '\(name)' to be a part of the primary key"
            case .noType(let name): "the type of '\(name)' must be written, as an attribute is made of it"
            case .unfitType(let name, let type):
                "a row cannot keep '\(name)': \(type) is no value that a column or JSON can have"
            case .reservedName(let name, let reason): "'\(name)' cannot be the name of a property here: \(reason)"
            case .unfitRelationship(let name, let type):
                "'\(name)' cannot be a relationship as \(type): one row is 'Type?', several are '[Type]'"
            case .initialRows(let name):
                "'\(name)' has no initial value: its rows are those that are loaded, or that are set"
            case .otherInverse(let name, let root, let target):
                "the inverse of '\(name)' must lead back from \(target), and this one is a property of \(root)"
            case .sameRemoteKey(let name, let other, let key):
                "'\(name)' and '\(other)' have the same remote key '\(key)'"
            }
        }

        var diagnosticID: MessageID { MessageID(domain: "Sync", id: "\(self)") }
        var severity: DiagnosticSeverity { .error }
    }

    /// How a problem is mended.
    struct EntityFix: FixItMessage {
        let message: String
        var fixItID: MessageID { MessageID(domain: "Sync", id: message) }
    }
#endif
