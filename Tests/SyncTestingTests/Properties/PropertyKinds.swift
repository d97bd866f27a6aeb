/// What random models and payloads may have.
struct PropertyKinds: OptionSet, Sendable {
    let rawValue: Int

    static let manyToMany = PropertyKinds(rawValue: 1)
    static let oneToOne = PropertyKinds(rawValue: 2)
    static let withItself = PropertyKinds(rawValue: 4)
    static let ordered = PropertyKinds(rawValue: 8)
    static let keyless = PropertyKinds(rawValue: 16)
    static let inheritance = PropertyKinds(rawValue: 32)
    static let deleteRules = PropertyKinds(rawValue: 64)
    static let keyTypes = PropertyKinds(rawValue: 128)
    static let predicates = PropertyKinds(rawValue: 256)
    static let parents = PropertyKinds(rawValue: 512)
    static let operations = PropertyKinds(rawValue: 1024)
    static let misfits = PropertyKinds(rawValue: 2048)
    static let requiredValues = PropertyKinds(rawValue: 4096)

    /// Payloads that contradict themselves: an owner of keyless rows given more than once, and, where operations are
    /// restricted, a row given more than once, so that it is new the first time and stored the second.
    static let contradictions = PropertyKinds(rawValue: 8192)

    /// Payloads that order a relationship and speak of its links from the other side, rows named more than once.
    static let ordersFromBothSides = PropertyKinds(rawValue: 16384)
    /// A sync for a parent that may delete and not update, so that a row listed is linked if it is new only.
    static let parentsWithoutUpdate = PropertyKinds(rawValue: 32768)

    /// Payloads that are one object in no array, an envelope or lines, and records none or only some of which have keys.
    static let shapes = PropertyKinds(rawValue: 65536)

    /// Keys of several parts, some of which are keys of other rows.
    static let partedKeys = PropertyKinds(rawValue: 131072)

    /// Lists written as objects, keyed by a member of their records.
    static let keyedObjects = PropertyKinds(rawValue: 262144)
    /// Records and references that say of which sub-entity they are, with `inheritance`.
    static let discriminators = PropertyKinds(rawValue: 524288)

    static let all = PropertyKinds(rawValue: 8191 | 65536)
}
