public import AfarCore

extension XMLDecoder: DataDecoder {}
