import AfarTransport

extension Transfer {
    /// Decodes bytes into the sink. Returns whether all of them were taken.
    func decode(_ body: UnsafeRawBufferPointer, _ decoding: BodyDecoding) throws(Fault) -> Bool {
        var rest = decoding.rest(of: body)
        while !rest.isEmpty || decoding.hasMore {
            guard hasRoomForPiece, !mustYield() else {
                decoding.wasRefused(body, rest: rest)
                return false
            }
            // It doesn't yield to the loop, which would end it.
            if mustBeReadToItsEnd, let fault = interruption { throw fault }
            try writePiece(decoding.decode(&rest))
        }
        decoding.wasTaken(body)
        return true
    }

    private var hasRoomForPiece: Bool {
        guard let held else { return sink.source?.isFull != true }
        return hasRoom(for: BodyDecoding.pieceSize, in: held)
    }

    private func writePiece(_ piece: UnsafeRawBufferPointer) throws(Fault) {
        if let held {
            _ = try hold(piece, in: held)
        } else {
            _ = try sink.write(piece, evenIfFull: true)
        }
    }
}
