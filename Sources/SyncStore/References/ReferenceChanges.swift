/// What becomes of the references that a store remembers.
struct ReferenceChanges {
    var remembered: [RememberedReference] = []
    var forgotten: [LateReference] = []
}
