extension PayloadPath.Step {
    /// The step to an element of a list, or to a member by its name.
    package init(_ layout: ListLayout, _ tape: JSONTape, at place: Int, _ index: Int) {
        self =
            switch layout {
            case .array: .index(index)
            case .members: .name(offset: tape.tokens[place].offset, length: Int(tape.tokens[place].length))
            case .nodes: .connected(index, isEdge: false)
            case .edges: .connected(index, isEdge: true)
            }
    }
}

extension PayloadPath.Root {
    package init(_ place: PayloadMapper.Place, _ tape: JSONTape) {
        self.init(list: place.list, index: place.index)
        guard place.name >= 0 else { return }
        nameOffset = tape.tokens[place.name].offset
        nameLength = Int(tape.tokens[place.name].length)
    }
}
