import SwiftUI
import TouchSyncClient

struct WallView: View {
    let model: RoomModel

    var body: some View {
        ZStack {
            Color(white: 0.95)
            ForEach(self.model.elements) { element in
                RoundedRectangle(cornerRadius: 6)
                    .fill(.yellow)
                    .frame(width: element.width, height: element.height)
                    .rotationEffect(.degrees(element.rotation))
                    .position(x: element.positionX, y: element.positionY)
            }
        }
    }
}
