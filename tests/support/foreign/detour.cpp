// Answers routes with Detour: FILE.nav as argument, six floats on each line of standard input.
// Each answer is a line: 1 or 0 for reached, and the length of the straightened way.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "DetourNavMesh.h"
#include "DetourNavMeshQuery.h"

struct SetHeader {
    int magic, version, tiles;
    dtNavMeshParams params;
};
struct TileHeader {
    unsigned int reference;
    int size;
};

int main(int, char** arguments) {
    FILE* file = fopen(arguments[1], "rb");
    SetHeader set;
    if (!file || fread(&set, sizeof set, 1, file) != 1) return 1;
    dtNavMesh* mesh = dtAllocNavMesh();
    if (dtStatusFailed(mesh->init(&set.params))) return 2;
    for (int number = 0; number < set.tiles; number++) {
        TileHeader tile;
        if (fread(&tile, sizeof tile, 1, file) != 1) return 3;
        unsigned char* data = static_cast<unsigned char*>(dtAlloc(tile.size, DT_ALLOC_PERM));
        if (fread(data, tile.size, 1, file) != 1) return 4;
        if (dtStatusFailed(mesh->addTile(data, tile.size, DT_TILE_FREE_DATA, 0, nullptr))) return 5;
    }
    dtNavMeshQuery query;
    query.init(mesh, 4092);
    dtQueryFilter filter;
    const float reach[3] = {10, 200, 10};
    std::vector<dtPolyRef> polygons(4096);
    std::vector<float> points(3 * 4096);
    float from[3], to[3];
    while (scanf("%f %f %f %f %f %f", from, from + 1, from + 2, to, to + 1, to + 2) == 6) {
        dtPolyRef start = 0, goal = 0;
        float first[3], last[3];
        query.findNearestPoly(from, reach, &filter, &start, first);
        query.findNearestPoly(to, reach, &filter, &goal, last);
        int count = 0, corners = 0;
        query.findPath(start, goal, first, last, &filter, polygons.data(), &count, 4096);
        const bool reached = count > 0 && polygons[count - 1] == goal;
        double length = 0;
        if (reached) {
            query.findStraightPath(first, last, polygons.data(), count, points.data(), nullptr,
                                   nullptr, &corners, 4096, 0);
        }
        for (int at = 3; at < 3 * corners; at += 3) {
            const float* a = &points[at - 3];
            const float* b = &points[at];
            length += std::sqrt(std::pow(b[0] - a[0], 2) + std::pow(b[1] - a[1], 2) +
                                std::pow(b[2] - a[2], 2));
        }
        printf("%d %.5f\n", reached, length);
    }
}
