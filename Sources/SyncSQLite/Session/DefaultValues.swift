import SyncCore

/// The model's defaults as slots, with their own texts.
struct DefaultValues {
    private var slots: [Slot] = []
    private var arena: [UInt8] = []

    init(_ tree: EntityTree) {
        for attribute in tree.attributes {
            slots.append(attribute.defaultValue?.slot(arena: &arena) ?? .null)
        }
    }

    func bind(_ slot: Int, to statement: RawStatement, at parameter: Int) {
        let value = slots[slot]
        switch value.kind {
        case .arenaText:
            let bytes = arena[value.offset..<value.offset + Int(value.length)]
            statement.bind(.text(String(decoding: bytes, as: UTF8.self)), at: parameter)
        case .arenaBlob:
            statement.bind(copying: Array(arena[value.offset..<value.offset + Int(value.length)]), at: parameter)
        default:
            let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
            statement.bind(value, at: parameter, TextPool(payload: none, arena: none))
        }
    }
}
